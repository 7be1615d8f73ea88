//! The inbox: what waits on all machines, what whoever looks may answer first, identical ones as one, and one in full.

use eclusa::{
    approve::SignerDirectory as _,
    audit::{Clock as _, SystemClock},
    one_line,
};
use eclusa_approvals::web::{Html, span};
use eclusa_fleet::inbox::InboxRow;
use hyper::{Request, StatusCode, body::Incoming};

use super::{Onlooker, frame, html, question};
use crate::{
    http::{Answer, HttpRefusal, questions::not_for},
    server::FleetServer,
    store::{
        notifications,
        questions::{self, QuestionFilter},
    },
};

/// So many are listed at once.
const PAGE: u32 = 100;

/// So many pages are looked through for one that is full.
const MAX_LOOKS: usize = 5;

/// So many identical ones are answered together.
const MAX_TOGETHER: u32 = 200;

/// How the address of a list begins.
const LIST: &str = "/inbox?";

/// So many are counted.
const MAX_COUNTED: u32 = 1_000;

/// What the address asks for.
struct InboxQuery {
    question: Option<u64>,
    after: u64,
    /// Also what whoever looks may not answer.
    all: bool,
    team: Option<String>,
    tool: Option<String>,
    search: Option<String>,
}

impl InboxQuery {
    fn parse(query: &str) -> InboxQuery {
        let value = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            let found = pairs.find(|it| it.0 == name).map(|it| it.1.into_owned());
            found.filter(|it| !it.is_empty() && !it.contains('\0'))
        };
        InboxQuery {
            question: value("question").and_then(|it| it.parse().ok()),
            after: value("after").and_then(|it| it.parse().ok()).unwrap_or(0),
            all: value("all").is_some(),
            team: value("team"),
            tool: value("tool"),
            search: value("q"),
        }
    }

    /// The address of the same list with this besides.
    fn link(&self, name: &str, number: Option<u64>) -> String {
        let mut query =
            url::form_urlencoded::Serializer::for_suffix(String::from(LIST), LIST.len());
        if self.all {
            query.append_pair("all", "1");
        }
        for (name, value) in [("team", &self.team), ("tool", &self.tool), ("q", &self.search)] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        if self.after > 0 && name != "after" {
            query.append_pair("after", &self.after.to_string());
        }
        if let Some(number) = number {
            query.append_pair(name, &number.to_string());
        }
        query.finish()
    }
}

pub(super) async fn inbox(
    server: &FleetServer,
    onlooker: &Onlooker,
    request: &Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let query = InboxQuery::parse(request.uri().query().unwrap_or_default());
    let (person, people, now) =
        (onlooker.session.person.as_str(), &onlooker.people, SystemClock.unix_ms());
    let (rows, more) = list(server, onlooker, &query, now).await?;
    let pending = match questions::pending(&server.database, MAX_COUNTED + 1).await? {
        it if it > u64::from(MAX_COUNTED) => format!("{MAX_COUNTED}+"),
        it => it.to_string(),
    };
    let open = query.question.or_else(|| rows.first().map(|it| it.number));
    let alone = if query.question.is_some() || rows.is_empty() { " alone" } else { "" };
    let mut body = Html::default();
    body.raw("<div class=\"columns").raw(alone);
    body.raw(
        "\"><section class=\"list\" aria-label=\"Pending approvals\"><h1>Pending approvals</h1>",
    );
    filters(&query, &mut body);
    for (target, attempts, error) in notifications::failed(&server.database).await? {
        body.element(
            "<p class=\"note\" role=\"alert\">Notification <b>",
            one_line(&target),
            "</b> was not ",
        );
        body.element("sent after ", attempts, " attempts: ").text(one_line(&error)).raw("</p>");
    }
    row_list(&rows, &query, open, now, &mut body);
    if let (true, Some(last)) = (more, rows.iter().map(|it| it.number).max()) {
        let next = query.link("after", Some(last));
        body.element("<p><a id=\"next\" class=\"button\" href=\"", next, "\">Next</a></p>");
    }
    body.raw("</section><section class=\"detail\" aria-live=\"off\">");
    if query.question.is_some() {
        body.element("<p class=\"back\"><a href=\"", query.link("", None), "\">← Inbox</a></p>");
    }
    match open {
        Some(number) => {
            let shown = in_full(server, onlooker, number, now).await?;
            body.raw(shown.as_str())
        }
        None => body.raw("<div class=\"empty card\"><img src=\"/icon.svg\" alt=\"\" width=\"64\" height=\"64\"><h1>Nothing waits for you</h1><p>New questions appear here by themselves.</p></div>"),
    };
    body.raw("</section></div>");
    let title = format!("Inbox ({pending})");
    let around = (server.anchor.name.as_str(), person);
    Ok(html(StatusCode::OK, frame::layout(around, people, (&title, &pending), &body)))
}

/// The rows of one page, and whether there may be more behind them.
async fn list(
    server: &FleetServer,
    onlooker: &Onlooker,
    query: &InboxQuery,
    now: u64,
) -> Result<(Vec<InboxRow>, bool), HttpRefusal> {
    let person = &onlooker.session.person;
    let mut names = onlooker.people.groups(person);
    names.push(person.clone());
    let mut filter = QuestionFilter {
        after: query.after,
        limit: PAGE,
        team: query.team.clone(),
        tool: query.tool.clone(),
        search: query.search.clone(),
        names: (!query.all).then_some(names),
        distinct: true,
        ..Default::default()
    };
    let (mut found, most) = (Vec::new(), usize::try_from(PAGE).unwrap_or(usize::MAX));
    for _ in 0..MAX_LOOKS {
        let rows = questions::waiting(&server.database, &filter, now).await?;
        let more = rows.len() == most;
        filter.after = rows.last().map_or(filter.after, |it| it.number);
        for mut row in rows {
            row.not_for_you = not_for(&row, person, &onlooker.people, now);
            if query.all || row.not_for_you.is_none() {
                found.push(row);
            }
        }
        if !more || found.len() >= most {
            let rest = more || found.len() > most;
            found.truncate(most);
            return Ok((found, rest));
        }
    }
    Ok((found, true))
}

async fn in_full(
    server: &FleetServer,
    onlooker: &Onlooker,
    number: u64,
    now: u64,
) -> Result<Html, HttpRefusal> {
    let (person, people) = (onlooker.session.person.as_str(), &onlooker.people);
    let Some(mut found) = questions::find(&server.database, number).await? else {
        let mut html = Html::default();
        html.element(
            "<div class=\"empty card\"><h1>There is no question ",
            number,
            " here</h1></div>",
        );
        return Ok(html);
    };
    found.row.not_for_you = not_for(&found.row, person, people, now);
    let mut identical = Vec::new();
    if found.row.identical > 1 {
        let filter =
            QuestionFilter { like: Some(number), limit: MAX_TOGETHER, ..Default::default() };
        identical = questions::waiting(&server.database, &filter, now).await?;
        let fits =
            |it: &InboxRow| it.state == "pending" && not_for(it, person, people, now).is_none();
        identical.retain(|it| it.number == number || fits(it));
    }
    Ok(question::question(&found, &identical, person, now))
}

fn filters(query: &InboxQuery, body: &mut Html) {
    body.raw("<form class=\"search\" role=\"search\" action=\"/inbox\"><input id=\"search\" type=\"search\" name=\"q\" aria-label=\"Search what waits\" placeholder=\"Search what waits\"");
    body.element(" value=\"", query.search.as_deref().unwrap_or_default(), "\">");
    for (name, value) in [("team", &query.team), ("tool", &query.tool)] {
        if let Some(value) = value {
            body.element("<input type=\"hidden\" name=\"", name, "\"").element(
                " value=\"",
                value,
                "\">",
            );
        }
    }
    if query.all {
        body.raw("<input type=\"hidden\" name=\"all\" value=\"1\">");
    }
    body.raw("</form><p class=\"faint\">");
    let other = InboxQuery { all: !query.all, after: 0, question: None, ..query.clone_filters() };
    let (said, switch) = match query.all {
        true => ("All that waits. ", "only what I may answer"),
        false => ("What you may answer. ", "all that waits"),
    };
    body.raw(said).element("<a href=\"", other.link("", None), "\">").raw(switch).raw("</a>");
    for (name, value) in [("team", &query.team), ("tool", &query.tool)] {
        if let Some(value) = value {
            body.raw(" · ").raw(name).element(" <b>", one_line(value), "</b>");
        }
    }
    body.raw("</p>");
}

impl InboxQuery {
    fn clone_filters(&self) -> InboxQuery {
        let (team, tool, search) = (self.team.clone(), self.tool.clone(), self.search.clone());
        InboxQuery { question: None, after: 0, all: self.all, team, tool, search }
    }
}

fn row_list(rows: &[InboxRow], query: &InboxQuery, open: Option<u64>, now: u64, body: &mut Html) {
    if rows.is_empty() {
        body.raw("<p class=\"faint\">No pending approvals.</p>");
        return;
    }
    body.raw("<ol class=\"rows\">");
    for row in rows {
        body.element(
            "<li><a class=\"row\" href=\"",
            query.link("question", Some(row.number)),
            "\"",
        );
        body.raw(if open == Some(row.number) { " aria-current=\"true\"" } else { "" });
        body.raw("><span class=\"top\">").element("<span class=\"number\">", row.number, "</span>");
        body.element("<span class=\"tool\">", one_line(&row.tool), "</span>");
        if row.identical > 1 {
            let times =
                if row.identical > 200 { "200+".to_owned() } else { row.identical.to_string() };
            body.element("<span class=\"times\">×", times, "</span>");
        }
        body.element("<span class=\"where\">", question::machine(row), "</span>");
        body.element("<time data-expires=\"", row.expires, "\">");
        body.text(span(row.expires.saturating_sub(now))).raw(" left</time></span>");
        body.element("<span class=\"what\" dir=\"ltr\">", one_line(&row.headline), "</span>");
        body.element("<span class=\"faint\">", question::needs(row), "</span>");
        if row.asker_away {
            body.raw(" <span class=\"away\">the caller has gone</span>");
        }
        body.raw("</a></li>");
    }
    body.raw("</ol>");
}
