_headlab() {
  local line="${COMP_LINE:0:COMP_POINT}" word
  local last="${line##* }"
  COMPREPLY=()
  [[ ${COMP_WORDS[COMP_CWORD]} == *[\\\'\"\$\`]* ]] && return
  while IFS= read -r word; do
    [[ $last == *[:=]* ]] && word="${word#"${last%"${last##*[:=]}"}"}"
    [[ $word == *[!A-Za-z0-9_./,:=@%+-]* ]] && printf -v word %q "$word"
    [[ -n $word ]] && COMPREPLY+=("$word")
  done < <(headlab completion words "$line" 2>/dev/null)
}
complete -o default -F _headlab headlab
