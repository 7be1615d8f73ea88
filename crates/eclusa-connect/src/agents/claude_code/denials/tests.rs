//! Which rules may be about which commands.

use super::fits;

#[test]
fn in_doubt_a_rule_is_about_a_command() {
    let table = [
        ("Bash(echo:*)", "echo hi", true),
        ("Bash(echo:*)", "true && echo hi", true),
        ("Bash(git push *)", "git  push origin", true),
        ("Bash(git push *)", "ls", false),
        ("Bash", "ls", true),
        ("Bash(*)", "ls", true),
        ("Bash(* --force)", "ls", true),
        ("*", "ls", true),
        ("Read(./.env)", "cat .env", false),
        ("Bash(rm:*)", "ls", false),
        ("Bash(rm:*)", "npm run format", false),
        ("Bash(rm:*)", "ls; /bin/rm x", true),
        ("Bash(rm:*)", "$(rm x)", true),
        ("Bash(r*)", "rm x", true),
    ];
    for (rule, command, fitting) in table {
        assert_eq!(fits(rule, command), fitting, "{rule} {command}");
    }
}
