#compdef headlab
_headlab() {
  local -a found
  found=(${(f)"$(headlab completion words "${(j: :)words[1,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _headlab ]]; then _headlab "$@"; else compdef _headlab headlab; fi
