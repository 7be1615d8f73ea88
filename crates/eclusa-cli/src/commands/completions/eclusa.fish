
# Names of tools and numbers of calls, from the program itself.
complete -c eclusa -n '__fish_seen_subcommand_from run check' -f -a '(eclusa complete-words tools 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from undo' -f -a '(eclusa complete-words undoable 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from redo' -f -a '(eclusa complete-words calls 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from approvals; and __fish_seen_subcommand_from yes no show edit abort revoke' -f -a '(eclusa complete-words approvals 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from sessions; and __fish_seen_subcommand_from resume show fork export rm' -f -a '(eclusa complete-words sessions 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from chat ask' -l resume -x -a '(eclusa complete-words sessions 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from log changes; and __fish_seen_subcommand_from show diff' -f -a '(eclusa complete-words calls 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from tools; and __fish_seen_subcommand_from show' -f -a '(eclusa complete-words tools 2>/dev/null)'
