//! `eclusa log export`: records for other systems, from the one reader of the log and in nobody's way.

use std::io::Write as _;

use eclusa::{Record, audit::Log};
use serde_json::{Map, Value, json};

use super::{LOOK, PAGE, record_json};
use crate::{failure::Failure, screen::Screen, signals::asked_to_end};

/// Which records, and how each is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every line has the number of the record, its hash and the one before, and the body byte for byte, so that the chain can be \
checked where it arrives. To go on after an interruption, name the number behind the last one that arrived with --from.")]
pub(crate) struct LogExportArgs {
    /// Keep writing new records until interrupted
    #[arg(short, long)]
    follow: bool,
    /// How a record is written: as the log has it, or as one OpenTelemetry or OCSF event
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    /// From the record with this number on
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    from: u64,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum ExportFormat {
    /// The record, its number and its hashes
    #[default]
    Jsonl,
    /// A request of OTLP/JSON with one log record, as the file exporter writes it
    Otlp,
    /// An API Activity of the Open Cybersecurity Schema Framework 1.3
    Ocsf,
}

pub(super) async fn run(
    log: &dyn Log,
    args: &LogExportArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut next = args.from.max(1);
    let mut ended = std::pin::pin!(asked_to_end());
    loop {
        let records = log.records(next, PAGE).map_err(Failure::failed)?;
        for record in &records {
            let line = match args.format {
                ExportFormat::Jsonl => record_json(record),
                ExportFormat::Otlp => otlp(record).to_string(),
                ExportFormat::Ocsf => ocsf(record).to_string(),
            };
            writeln!(screen, "{line}")?;
            next = record.seq + 1;
        }
        screen.flush()?;
        match (records.is_empty(), args.follow) {
            (true, false) => return Ok(()),
            (true, true) => {
                tokio::select! {
                    () = &mut ended => return Ok(()),
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
            (false, _) => {}
        }
    }
}

/// The fields of a record that other systems know words for.
struct RecordFields(Map<String, Value>);

impl RecordFields {
    fn read(record: &Record) -> RecordFields {
        RecordFields(serde_json::from_str(&record.body).unwrap_or_default())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    fn number(&self, key: &str) -> u64 {
        self.0.get(key).and_then(Value::as_u64).unwrap_or_default()
    }

    /// Whether the call was refused, or failed.
    fn was_stopped(&self) -> Option<bool> {
        match (self.text("code"), self.text("decision")) {
            (Some(code), _) => Some(code != "ok"),
            (None, Some(decision)) => Some(decision == "deny"),
            (None, None) => None,
        }
    }
}

/// Fields that are attributes of an event of their own.
const ATTRIBUTES: [&str; 12] = [
    "event",
    "tool",
    "operation",
    "class",
    "decision",
    "code",
    "mode",
    "principal",
    "client",
    "conversation",
    "origin",
    "call",
];

fn otlp(record: &Record) -> Value {
    let fields = RecordFields::read(record);
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    // Numbers of 64 bits are texts in OTLP/JSON.
    let number =
        |key: &str, value: u64| json!({"key": key, "value": {"intValue": value.to_string()}});
    let mut attributes = vec![
        number("eclusa.seq", record.seq),
        text("eclusa.hash", &record.hash.to_string()),
        text("eclusa.previous", &record.previous.to_string()),
    ];
    let named = ATTRIBUTES.iter().filter_map(|it| Some((it, fields.text(it)?)));
    attributes.extend(named.map(|(key, value)| text(&format!("eclusa.{key}"), value)));
    if fields.0.contains_key("number") {
        attributes.push(number("eclusa.number", fields.number("number")));
    }
    let (severity, word) = match fields.was_stopped() {
        Some(true) => (13, "WARN"),
        _ => (9, "INFO"),
    };
    let nanos = u128::from(fields.number("at")) * 1_000_000;
    let event = fields.text("event").unwrap_or("record");
    json!({"resourceLogs": [{
        "resource": {"attributes": [text("service.name", "eclusa")]},
        "scopeLogs": [{
            "scope": {"name": "eclusa.audit", "version": env!("CARGO_PKG_VERSION")},
            "logRecords": [{
                "timeUnixNano": nanos.to_string(),
                "severityNumber": severity,
                "severityText": word,
                "eventName": format!("eclusa.{event}"),
                "body": {"stringValue": record.body},
                "attributes": attributes,
            }],
        }],
    }]})
}

/// The class API Activity of OCSF.
const API_ACTIVITY: u64 = 6003;

fn ocsf(record: &Record) -> Value {
    let fields = RecordFields::read(record);
    let operation = fields.text("operation").or(fields.text("event")).unwrap_or("record");
    // Read, or another one that has no number there.
    let activity: u64 = if fields.text("class") == Some("read-only") { 2 } else { 99 };
    let stopped = fields.was_stopped();
    let (status, severity) = match stopped {
        Some(true) => ((2, "Failure"), 3),
        Some(false) => ((1, "Success"), 1),
        None => ((0, "Unknown"), 1),
    };
    let (action, disposition) = match fields.text("decision") {
        Some("deny") => ((2, "Denied"), (2, "Blocked")),
        Some(_) => ((1, "Allowed"), (1, "Allowed")),
        None => ((0, "Unknown"), (0, "Unknown")),
    };
    json!({
        "class_uid": API_ACTIVITY, "class_name": "API Activity",
        "category_uid": 6, "category_name": "Application Activity",
        "activity_id": activity, "activity_name": operation, "type_uid": API_ACTIVITY * 100 + activity,
        "time": fields.number("at"),
        "severity_id": severity,
        "status_id": status.0, "status": status.1, "status_code": fields.text("code"),
        "action_id": action.0, "action": action.1,
        "disposition_id": disposition.0, "disposition": disposition.1,
        "message": fields.text("message"),
        "duration": fields.0.get("ms"),
        "api": {"operation": fields.text("tool").unwrap_or_default(), "service": {"name": "eclusa"}},
        "actor": {
            "user": {"name": fields.text("principal").unwrap_or("unknown")},
            "app_name": fields.text("client"),
            "session": {"uid": fields.text("conversation").unwrap_or_default()},
        },
        "src_endpoint": {"name": "localhost"},
        "metadata": {
            "version": "1.3.0",
            "product": {"name": "Eclusa", "vendor_name": "Eclusa", "version": env!("CARGO_PKG_VERSION")},
            "profiles": ["security_control"],
            "sequence": record.seq,
            "uid": record.hash.to_string(),
        },
        "raw_data": record.body,
        "unmapped": {
            "seq": record.seq, "hash": record.hash.to_string(), "previous": record.previous.to_string(),
        },
    })
}
