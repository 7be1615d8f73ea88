//! Answers and pictures as JSON, and read back.

use serde_json::{Value, json};

use super::{AnswerItem, PictureRef};

impl AnswerItem {
    pub(super) fn json(&self) -> Value {
        let mut result = json!({
            "id": self.id,
            "tool_name": self.tool,
            "success": self.error.is_none(),
            "output": self.output,
            "truncated": self.truncated,
            "execution_time_ms": self.time_ms,
            "code": self.code,
            "number": self.number,
        });
        if let Some(fields) = result.as_object_mut() {
            if let Some(error) = &self.error {
                fields.insert("error".to_owned(), error.as_str().into());
            }
            if let Some(outside) = &self.outside {
                fields.insert("outside".to_owned(), outside.as_str().into());
            }
            if let Some(approval) = self.approval {
                fields.insert("approval".to_owned(), approval.into());
            }
            if !self.pictures.is_empty() {
                fields.insert("pictures".to_owned(), pictures(&self.pictures));
            }
        }
        result
    }

    pub(super) fn from_json(value: &Value) -> Option<AnswerItem> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(AnswerItem {
            id: text("id")?,
            tool: text("tool_name")?,
            output: text("output")?,
            error: text("error"),
            truncated: value.get("truncated").and_then(Value::as_bool)?,
            time_ms: value.get("execution_time_ms").and_then(Value::as_u64)?,
            code: text("code")?,
            number: value.get("number").and_then(Value::as_u64),
            pictures: read_pictures(value.get("pictures")),
            outside: text("outside"),
            approval: value.get("approval").and_then(Value::as_u64),
            in_archive: 0,
        })
    }
}

pub(super) fn pictures(all: &[PictureRef]) -> Value {
    if all.is_empty() {
        return Value::Null;
    }
    let picture = |it: &PictureRef| json!({"sha256": it.sha256, "media_type": it.media_type});
    all.iter().map(picture).collect()
}

pub(super) fn read_pictures(value: Option<&Value>) -> Vec<PictureRef> {
    let all = value.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|it| {
        let text = |name: &str| it.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(PictureRef { sha256: text("sha256")?, media_type: text("media_type")? })
    })
    .collect()
}
