//! The pages, made by the server: they read without the script, which adds keys, answers and news.

use std::sync::Arc;

use eclusa::Question;

use crate::workspaces::Workspaces;

mod calls;
mod html;
mod inbox;
mod jobs;
mod log;
mod metrics;
mod plots;
mod question;
mod sessions;
mod text_lines;

pub use html::{Html, ago, span};
pub use inbox::headline;
pub use text_lines::text_lines;

/// The one stylesheet.
pub const STYLE: &str = include_str!("page/approvals.css");
/// What the scripts of all our pages share: keys, passkeys, signatures, and moving about.
pub const PAGE_SCRIPT: &str = include_str!("page/page.js");
/// The script of this page.
pub(crate) const SCRIPT: &str = include_str!("page/approvals.js");
/// The address of that.
const SCRIPT_PATH: &str = "/approvals.js";
/// The sign of the page: a lock with two gates.
pub const ICON: &str = include_str!("page/icon.svg");

/// What a page is made from.
pub(crate) struct PageView {
    pub(crate) workspaces: Arc<dyn Workspaces>,
    pub(crate) person: String,
    /// What authenticators call the passkeys of this person.
    pub(crate) passkeys: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
}

impl PageView {
    /// A parameter of the address; empty where it is not given.
    fn parameter(&self, name: &str) -> &str {
        self.query.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value.as_str())
    }
}

/// Which answers a question offers besides yes and no.
pub(crate) struct Offers {
    pub(crate) session: bool,
    pub(crate) edits: bool,
    pub(crate) review: bool,
    pub(crate) always: bool,
    pub(crate) edit: bool,
    pub(crate) instead: bool,
}

/// What a person has not seen whole is allowed this once at most. What ran already cannot be edited
/// any more, and what holds a secret is not: a cookie alone would read it.
pub(crate) fn offers(question: &Question) -> Offers {
    let whole = question.made().is_none_or(|it| it.whole);
    Offers {
        session: whole && question.grant.is_some(),
        edits: whole && question.offers_edits(),
        review: question.offers_review(),
        always: whole && question.can_always && question.grant.is_some(),
        edit: question.can_edit() && question.shown_args.is_none(),
        instead: question.offers_instead(),
    }
}

/// The page at this address; `None` where there is none.
pub(crate) async fn render(view: &PageView, path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
    match &parts[..] {
        ["inbox"] => inbox::inbox(view, None).await,
        ["inbox", key, id] => inbox::inbox(view, Some((key, id.parse().ok()?))).await,
        ["log"] => log::log(view),
        ["log", key, call] => log::call(view, key, call.parse().ok()?).await,
        ["sessions"] => sessions::sessions(view).await,
        ["jobs"] => jobs::jobs(view),
        ["jobs", key, job] => jobs::job(view, key, job.parse().ok()?).await,
        ["metrics"] => metrics::metrics(view),
        _ => None,
    }
}

const PLACES: [(&str, &str); 5] = [
    ("inbox", "Inbox"),
    ("log", "Log"),
    ("sessions", "Sessions"),
    ("jobs", "Jobs"),
    ("metrics", "Metrics"),
];

/// A whole page of somebody who is known.
fn layout(view: &PageView, place: &str, title: &str, pending: Option<u64>, body: &Html) -> String {
    let mut page = document_head(title, SCRIPT_PATH);
    page.raw("<body class=\"")
        .raw(place)
        .raw("\"><a class=\"skip\" href=\"#main\">Skip to content</a>");
    page.raw("<header><a class=\"brand\" href=\"/inbox\"><img src=\"/icon.svg\" alt=\"\" width=\"26\" height=\"26\">");
    page.raw("<span>Eclusa</span></a><nav aria-label=\"Pages\">");
    for (name, label) in PLACES {
        let current = if name == place { " aria-current=\"page\"" } else { "" };
        page.raw("<a href=\"/").raw(name).raw("\"").raw(current).raw(">").raw(label);
        if let (true, Some(pending)) = (name == "inbox", pending) {
            page.element(" <span class=\"count\">", pending, "</span>");
        }
        page.raw("</a>");
    }
    page.raw("</nav><p class=\"who\">").element("<span class=\"person\">", &view.person, "</span>");
    page.raw("<span id=\"key\" class=\"key\" hidden>key</span>");
    page.raw("<button id=\"passkey\" type=\"button\" class=\"quiet\"");
    page.element(" data-person=\"", &view.person, "\"");
    page.element(" data-passkeys=\"", view.passkeys.join(","), "\" title=\"");
    page.raw(match view.passkeys.is_empty() {
        true => "Register a passkey\">add passkey</button>",
        false => "Register another passkey\">passkey ✓</button>",
    });
    page.raw("<span id=\"live\" class=\"live\" role=\"status\">offline</span>");
    page.raw("<button id=\"help-button\" type=\"button\" class=\"quiet\" aria-haspopup=\"dialog\">?</button></p></header>");
    page.raw("<main id=\"main\" tabindex=\"-1\">").raw(body.as_str()).raw("</main>");
    page.raw("<p id=\"message\" role=\"status\" aria-live=\"polite\"></p>");
    page.raw(HELP).raw("</body></html>");
    page.into_string()
}

const HELP: &str = "<dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl>\
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous</dd>\
<dt><kbd>y</kbd></dt><dd>yes, this once</dd>\
<dt><kbd>s</kbd></dt><dd>yes, for this session</dd>\
<dt><kbd>a</kbd></dt><dd>always: shows the rule first</dd>\
<dt><kbd>e</kbd></dt><dd>edit the call</dd>\
<dt><kbd>f</kbd></dt><dd>only some files of its changes</dd>\
<dt><kbd>n</kbd></dt><dd>no, with a reason</dd><dt><kbd>i</kbd></dt><dd>answer in place of the tool</dd>\
<dt><kbd>q</kbd> <kbd>q</kbd></dt><dd>no, and end the agent’s turn</dd>\
<dt><kbd>x</kbd></dt><dd>mark identical ones: which of them to answer</dd>\
<dt><kbd>Y</kbd></dt><dd>yes to all of them that are marked</dd>\
<dt><kbd>u</kbd></dt><dd>undo the call (Log)</dd>\
<dt><kbd>/</kbd></dt><dd>search</dd>\
<dt><kbd>g</kbd> then <kbd>i</kbd> <kbd>l</kbd> <kbd>s</kbd> <kbd>b</kbd> <kbd>m</kbd></dt><dd>Inbox, Log, Sessions, Jobs, Metrics</dd>\
<dt><kbd>Esc</kbd></dt><dd>close, cancel</dd></dl>\
<p>Keys rest for a moment whenever the question changes, so that you answer what you have read.</p>\
<form method=\"dialog\"><button>Close</button></form></dialog>";

/// How a document of ours begins, with the script at this address beside the one that all share.
pub fn document_head(title: &str, script: &'static str) -> Html {
    let mut page = Html::default();
    page.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">");
    page.element("<title>", title, " · Eclusa</title>");
    page.raw(
        "<link rel=\"icon\" href=\"/icon.svg\"><link rel=\"stylesheet\" href=\"/approvals.css\">",
    );
    page.raw("<script src=\"/page.js\" defer></script><script src=\"").raw(script);
    page.raw("\" defer></script></head>");
    page
}

/// A page with one message, for somebody who is not known yet.
pub fn plain(script: &'static str, title: &str, id: &str, message: &str) -> String {
    let mut page = document_head(title, script);
    page.raw("<body class=\"plain\"><main id=\"main\"><section class=\"card\" id=\"").raw(id);
    page.raw("\"><img src=\"/icon.svg\" alt=\"\" width=\"48\" height=\"48\">");
    page.element("<h1>", title, "</h1>").raw(message).raw("</section></main></body></html>");
    page.into_string()
}

/// The page that a link leads to: the script exchanges the link for a cookie and a key.
pub(crate) fn pair() -> String {
    plain(
        SCRIPT_PATH,
        "Pair this browser",
        "pair",
        "<p id=\"pair-status\" role=\"status\">This page makes a key that stays in this browser. \
         Only that key answers questions.</p><noscript><p>Pairing needs the script of this page.</p></noscript>",
    )
}

/// For whoever has no cookie.
pub(crate) fn stranger() -> String {
    plain(
        SCRIPT_PATH,
        "Not paired",
        "stranger",
        "<p>This browser is not known here. Run <code>eclusa people pair</code> and open the link \
         that it prints; it works once.</p>",
    )
}

/// For an address that leads nowhere.
pub(crate) fn missing() -> String {
    plain(
        SCRIPT_PATH,
        "Not found",
        "missing",
        "<p>There is nothing here. <a href=\"/inbox\">Back to the inbox</a></p>",
    )
}
