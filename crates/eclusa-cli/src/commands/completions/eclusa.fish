
# Names of tools and numbers of calls, from the program itself.
complete -c eclusa -n '__fish_seen_subcommand_from run check' -f -a '(eclusa complete-words tools 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from undo redo' -f -a '(eclusa complete-words calls 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from log changes; and __fish_seen_subcommand_from show diff' -f -a '(eclusa complete-words calls 2>/dev/null)'
complete -c eclusa -n '__fish_seen_subcommand_from tools; and __fish_seen_subcommand_from show' -f -a '(eclusa complete-words tools 2>/dev/null)'
