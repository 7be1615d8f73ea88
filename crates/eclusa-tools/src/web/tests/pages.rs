//! Pages as Markdown.

use proptest::prelude::*;
use url::Url;

use crate::web::{Kind, markdown};

fn shown(html: &str) -> String {
    markdown(html, &Url::parse("https://example.com/a/").unwrap())
}

#[test]
fn a_page_stays_readable() {
    let html = r#"<!DOCTYPE html><html><head><title>A &amp; B</title><style>p{}</style></head><body>
        <script>if (a < b) alert("<p>no</p>")</script>
        <h1>One</h1><p>Some <b>bold</b> text with a <a href="../x?y=1">link</a>,
        and a <a href="javascript:x()">trap</a>.<br>Next.</p>
        <ul><li>first<ul><li>inner</li></ul></li><li>second</li></ul>
        <ol start=3><li><p>three</p></li><li>four</li></ol>
        <pre><code>fn main() {
    1 &lt; 2
}</code></pre>
        <blockquote><p>said</p><p>again</p></blockquote>
        <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
        <img src=x.png alt="a cat"></body></html>"#;
    insta::assert_snapshot!(shown(html), @r"
    Title: A & B

    # One

    Some bold text with a [link](https://example.com/x?y=1), and a trap.
    Next.

    - first
      - inner
    - second

    3. three
    4. four

    ```
    fn main() {
        1 < 2
    }
    ```

    > said
    >
    > again

    | a | b |
    |---|---|
    | 1 | 2 |

    (picture: a cat)
    ");
}

#[test]
fn what_people_do_not_see_is_left_out() {
    for hidden in [
        "<p hidden>no</p>",
        "<div style='display : none'>no<div>no</div>no</div>",
        "<span style=\"visibility:hidden\">no</span>",
        "<p style='font-size:0'>no</p>",
        "<template>no</template>",
        "<!-- no -->",
        "<svg><text>no</text></svg>",
        "<p aria-hidden=true>no</p>",
    ] {
        assert_eq!(shown(&format!("<p>a</p>{hidden}<p>b</p>")), "a\n\nb", "{hidden}");
    }
}

#[test]
fn the_main_part_is_shown_where_a_page_says_which_it_is() {
    let main = "long enough to matter ".repeat(20);
    let text = shown(&format!("<nav>menu</nav><main><p>{main}</p></main><footer>foot</footer>"));
    assert_eq!(text, main.trim());
}

#[test]
fn a_hostile_page_costs_no_more_than_its_length() {
    let many = 20_000;
    for html in [
        "<div>".repeat(many),
        "<b a=1><p>".repeat(many),
        "<ul><li>".repeat(many),
        "<blockquote>x".repeat(many),
        "<table><tr><td>".repeat(many),
        "<a href=x>y".repeat(many),
        format!("<ul><blockquote><pre>{}", "\n.".repeat(many)),
        "<svg>".repeat(many),
        "<".repeat(many),
    ] {
        let text = shown(&html);
        assert!(text.len() <= 2 * html.len() + 70_000, "{} became {}", html.len(), text.len());
    }
}

#[test]
fn content_types_are_what_they_say() {
    for (said, kind) in [
        (Some("text/html; charset=utf-8"), Kind::Html),
        (Some("TEXT/Plain"), Kind::Text),
        (Some("application/ld+json"), Kind::Text),
        (Some("image/svg+xml"), Kind::Text),
        (Some("image/png"), Kind::Binary),
        (Some("application/zip"), Kind::Binary),
        (Some("application/octet-stream"), Kind::Unsaid),
        (Some("nonsense"), Kind::Unsaid),
        (None, Kind::Unsaid),
    ] {
        assert_eq!(Kind::of(said), kind, "{said:?}");
    }
}

proptest! {
    #[test]
    fn no_page_is_too_odd(html in "(<(/?)(a href=x|li|ul|pre|td|tr|table|main|p hidden|b|title|blockquote|svg/?)>|[a-z` \n]|é){0,60}") {
        shown(&html);
    }
}
