//! What stands around the content of a page, and the pages for whoever is not known yet.

use eclusa_approvals::{
    KeyKind, KnownSigners,
    web::{self, Html, document_head},
};

/// The address of the script.
const SCRIPT: &str = "/fleet.js";

/// A whole page of somebody who is known.
pub(super) fn layout(
    (fleet, person): (&str, &str),
    people: &KnownSigners,
    (title, pending): (&str, &str),
    body: &Html,
) -> String {
    let mut page = document_head(title, SCRIPT);
    page.raw("<body class=\"inbox fleet\"><a class=\"skip\" href=\"#main\">Skip to content</a>");
    page.raw("<header><a class=\"brand\" href=\"/inbox\"><img src=\"/icon.svg\" alt=\"\" width=\"26\" height=\"26\">");
    page.element("<span>", fleet, "</span></a><nav aria-label=\"Pages\">");
    page.raw("<a href=\"/inbox\" aria-current=\"page\">Inbox");
    page.element(" <span class=\"count\">", pending, "</span></a></nav>");
    page.raw("<p class=\"who\">").element("<span class=\"person\">", person, "</span>");
    let keys = people.keys_of(person);
    let of = |kind: KeyKind| keys.iter().filter(move |it| it.kind == kind);
    let passkeys: Vec<&str> =
        of(KeyKind::Passkey).filter_map(|it| it.credential.as_deref()).collect();
    let browsers: Vec<&str> = of(KeyKind::Browser).map(|it| it.id.as_str()).collect();
    page.element("<span id=\"passkey\" class=\"key\" data-passkeys=\"", passkeys.join(","), "\"");
    page.element(" data-keys=\"", browsers.join(","), "\"");
    page.raw(match passkeys.is_empty() {
        true => " hidden>passkey</span>",
        false => ">passkey ✓</span>",
    });
    page.raw("<span id=\"live\" class=\"live\" role=\"status\">offline</span>");
    page.raw("<button id=\"sign-out\" type=\"button\" class=\"quiet\">sign out</button>");
    page.raw("<button id=\"help-button\" type=\"button\" class=\"quiet\" aria-haspopup=\"dialog\">?</button></p></header>");
    page.raw("<main id=\"main\" tabindex=\"-1\">").raw(body.as_str()).raw("</main>");
    page.raw("<p id=\"message\" role=\"status\" aria-live=\"polite\"></p>");
    page.raw(HELP).raw("</body></html>");
    page.into_string()
}

const HELP: &str = "<dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl>\
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous</dd>\
<dt><kbd>y</kbd></dt><dd>yes, this once</dd>\
<dt><kbd>n</kbd></dt><dd>no, with a reason</dd>\
<dt><kbd>x</kbd></dt><dd>mark identical ones: which of them to answer</dd>\
<dt><kbd>Y</kbd></dt><dd>yes to all of them that are marked</dd>\
<dt><kbd>/</kbd></dt><dd>search</dd>\
<dt><kbd>Esc</kbd></dt><dd>close, cancel</dd></dl>\
<p>Keys rest for a moment whenever the question changes, and nobody says yes before the end of the text was on the screen.</p>\
<form method=\"dialog\"><button>Close</button></form></dialog>";

/// For whoever has not signed in.
pub(super) fn sign_in(fleet: &str) -> String {
    let mut body = Html::default();
    body.element(
        "<p>The inbox of the fleet <b id=\"fleet\">",
        fleet,
        "</b>. Sign in with a key that its people document names.</p>",
    );
    body.raw("<p><button id=\"with-passkey\" type=\"button\" class=\"yes\">Sign in with a passkey</button> ");
    body.raw("<button id=\"with-key\" type=\"button\" hidden>Sign in with the key of this browser</button></p>");
    body.raw("<p id=\"message\" role=\"status\"></p>");
    body.raw("<noscript><p class=\"note\">Signing needs the script of this page. Without it: <code>eclusa fleet inbox</code></p></noscript>");
    web::plain(SCRIPT, "Sign in", "sign-in", body.as_str())
}

/// The page that an invite of a person leads to.
pub(super) fn join(fleet: &str) -> String {
    let mut body = Html::default();
    body.element(
        "<p id=\"join-status\" role=\"status\">A key for the fleet <b>",
        fleet,
        "</b>, made here. Nobody but you has it.</p>",
    );
    body.raw(
        "<p><button id=\"join-passkey\" type=\"button\" class=\"yes\">Make a passkey</button> ",
    );
    body.raw("<button id=\"join-key\" type=\"button\">Make a key that stays in this browser</button></p>");
    body.raw("<p id=\"message\" role=\"status\"></p>");
    body.raw(
        "<noscript><p class=\"note\">Making a key needs the script of this page.</p></noscript>",
    );
    web::plain(SCRIPT, "Join", "join", body.as_str())
}

/// For an address that leads nowhere.
pub(super) fn missing() -> String {
    let body = "<p>There is nothing here. <a href=\"/inbox\">Back to the inbox</a></p>";
    web::plain(SCRIPT, "Not found", "missing", body)
}
