
# Names of tools and numbers of calls, from the program itself.
_eclusa_words() {
    local kind= command="${COMP_WORDS[1]}" current="${COMP_WORDS[COMP_CWORD]}"
    case "$command,${COMP_WORDS[2]}" in
        run,* | check,*) [ "$COMP_CWORD" -eq 2 ] && kind=tools ;;
        tools,show) [ "$COMP_CWORD" -eq 3 ] && kind=tools ;;
        undo,* | redo,*) kind=calls ;;
        log,show | changes,show | changes,diff) [ "$COMP_CWORD" -eq 3 ] && kind=calls ;;
    esac
    if [ -n "$kind" ] && [ "${current#-}" = "$current" ]; then
        COMPREPLY=($(compgen -W "$(eclusa complete-words "$kind" 2>/dev/null)" -- "$current"))
        [ "${#COMPREPLY[@]}" -gt 0 ] && return 0
    fi
    _eclusa "$@"
}
complete -F _eclusa_words -o bashdefault -o default eclusa
