
# Names of tools and numbers of calls, from the program itself.
_eclusa_words() {
    local kind= of=
    case "$words[2],$words[3]" in
        run,*|check,*) if (( CURRENT == 3 )); then kind=tools; else kind=arguments of=$words[3]; fi ;;
        tools,show) (( CURRENT == 4 )) && kind=tools ;;
        undo,*) kind=undoable ;;
        redo,*) kind=calls ;;
        approvals,(yes|no|show|edit|abort|revoke)) (( CURRENT == 4 )) && kind=approvals ;;
        sessions,(resume|show|fork|export|rm)) (( CURRENT == 4 )) && kind=sessions ;;
        log,show|changes,show|changes,diff) (( CURRENT == 4 )) && kind=calls ;;
    esac
    [[ $words[CURRENT-1] == --resume ]] && kind=sessions
    if [[ -n $kind && $words[CURRENT] != -* ]]; then
        local -a none; [[ $kind == arguments ]] && none=(-S '')
        compadd $none -- ${(f)"$(eclusa complete-words $kind $of 2>/dev/null)"}
        return
    fi
    _eclusa "$@"
}
(( $+functions[compdef] )) && compdef _eclusa_words eclusa
