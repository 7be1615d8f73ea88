
# Names of tools and numbers of calls, from the program itself.
_eclusa_words() {
    local kind= of= command="${COMP_WORDS[1]}" current="${COMP_WORDS[COMP_CWORD]}"
    case "$command,${COMP_WORDS[2]}" in
        run,* | check,*)
            if [ "$COMP_CWORD" -eq 2 ]; then kind=tools; else kind=arguments of="${COMP_WORDS[2]}"; fi ;;
        tools,show) [ "$COMP_CWORD" -eq 3 ] && kind=tools ;;
        undo,*) kind=undoable ;;
        redo,*) kind=calls ;;
        approvals,yes | approvals,no | approvals,show | approvals,edit | approvals,abort | approvals,revoke)
            [ "$COMP_CWORD" -eq 3 ] && kind=approvals ;;
        sessions,resume | sessions,show | sessions,fork | sessions,export | sessions,rm)
            [ "$COMP_CWORD" -eq 3 ] && kind=sessions ;;
        log,show | changes,show | changes,diff) [ "$COMP_CWORD" -eq 3 ] && kind=calls ;;
    esac
    [ "${COMP_WORDS[COMP_CWORD - 1]}" = --resume ] && kind=sessions
    if [ -n "$kind" ] && [ "${current#-}" = "$current" ]; then
        COMPREPLY=($(compgen -W "$(eclusa complete-words "$kind" $of 2>/dev/null)" -- "$current"))
        [ "$kind" = arguments ] && compopt -o nospace
        [ "${#COMPREPLY[@]}" -gt 0 ] && return 0
    fi
    _eclusa "$@"
}
complete -F _eclusa_words -o bashdefault -o default eclusa
