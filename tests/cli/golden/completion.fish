complete -c headlab -a '(headlab completion words (commandline -cp | string collect))'
