#!/bin/sh
# The git of agents: it works on every repository except that of the run. There it only answers the questions that builds
# and tests ask about the last commit and its files, from an outline.
refuse() {
    echo "git $*" >>@REFUSED@
    echo 'git: not for agents; the engine does all git work' >&2
    exit 126
}

# Whether a folder, or the nearest one above it that exists, is in the work tree or in the checkout.
is_ours() {
    folder=$1
    while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
    folder=$(cd "$folder" 2>/dev/null && pwd -P) || return 0
    for own in @TREE@ @CHECKOUT@ @COMMON@; do
        case $folder/ in "$own"/*) return 0 ;; esac
    done
    return 1
}

# Answers a question about the work tree.
ask() {
    [ -d @OUTLINE@ ] || refuse "$@"
    GIT_DIR=@OUTLINE@ GIT_WORK_TREE=@TREE@ GIT_OPTIONAL_LOCKS=0 exec @GIT@ "$@"
}

[ -x @GIT@ ] || refuse "$@"

# The folder and the command, after the options of git itself.
place=. command='' last='' value='' elsewhere=''
for word; do
    if [ -n "$command" ]; then
        last=$word
    elif [ -n "$value" ]; then
        [ "$value" = -C ] && case $word in /*) place=$word ;; *) place=$place/$word ;; esac
        value=''
    else
        case $word in
        --git-dir* | --work-tree* | --namespace*) elsewhere=yes; case $word in *=*) ;; *) value=$word ;; esac ;;
        -C | -c | --exec-path) value=$word ;;
        -*) ;;
        *) command=$word ;;
        esac
    fi
done

case $command in
'') exec @GIT@ "$@" ;;
init | clone)
    case $last in '' | -*) target=$place ;; /*) target=$last ;; *) target=$place/$last ;; esac
    is_ours "$target" && refuse "$@"
    ;;
rev-parse | status | log | describe | ls-files | ls-tree | rev-list | show-ref | for-each-ref | name-rev)
    [ -z "$elsewhere${GIT_DIR:-}${GIT_WORK_TREE:-}" ] && is_ours "$place" && ask "$@"
    ;;
*) ;;
esac
case $command in
init | clone) ;;
*) is_ours "$place" && refuse "$@" ;;
esac
case ${GIT_DIR:-/}${GIT_WORK_TREE:-/} in *@TREE@* | *@CHECKOUT@* | *@COMMON@*) refuse "$@" ;; esac
exec @GIT@ "$@"
