//! Markdown is rendered, and nothing of it is markup.

use super::rendered;

#[test]
fn what_a_model_writes_is_rendered() {
    let text = "# Head\nwords **bold** and `a<b`\nmore\n\n- one\n- two\n1. three\n\n| a | b |\n|---|:-:|\n| 1 | `2` |\n\n```rust\nlet x = 1 < 2;\n\n# no head\n```\nend";
    let expected = "<h3>Head</h3>\n<p>words <b>bold</b> and <code>a&lt;b</code><br>more</p>\n\
        <ul><li>one</li><li>two</li><li>1. three</li></ul>\n\
        <table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><code>2</code></td></tr></tbody></table>\n\
        <pre><code>let x = 1 &lt; 2;\n\n# no head</code></pre>\n<p>end</p>\n";
    assert_eq!(rendered(text), expected);
}

#[test]
fn what_is_not_closed_stays_as_it_was_written_and_nothing_is_markup() {
    assert_eq!(rendered("a ` b ** c"), "<p>a ` b ** c</p>\n");
    assert_eq!(rendered("``` <i>\nx"), "<pre><code>x</code></pre>\n");
    for text in
        ["<script>", "`<script>`", "**<script>**", "# <script>", "- <script>", "| <script> |\n|-|"]
    {
        let page = rendered(text);
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
    }
}
