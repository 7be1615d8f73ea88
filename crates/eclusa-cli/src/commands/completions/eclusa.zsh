
# Names of tools and numbers of calls, from the program itself.
_eclusa_words() {
    local kind=
    case "$words[2],$words[3]" in
        run,*|check,*) (( CURRENT == 3 )) && kind=tools ;;
        tools,show) (( CURRENT == 4 )) && kind=tools ;;
        undo,*|redo,*) kind=calls ;;
        log,show|changes,show|changes,diff) (( CURRENT == 4 )) && kind=calls ;;
    esac
    if [[ -n $kind && $words[CURRENT] != -* ]]; then
        compadd -- ${(f)"$(eclusa complete-words $kind 2>/dev/null)"}
        return
    fi
    _eclusa "$@"
}
(( $+functions[compdef] )) && compdef _eclusa_words eclusa
