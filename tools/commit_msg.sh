#!/bin/sh
# Check the subject of a commit message. To install this script as git's hook `commit-msg`:
#   ln -s ../../tools/commit_msg.sh .git/hooks/commit-msg
# To check the subjects of a range of commits: tools/commit_msg.sh --range main..HEAD

most=72

check() {
    subject=$1
    case $subject in
    Merge\ * | Revert\ * | fixup!\ * | squash!\ *) return 0 ;;
    esac
    if [ "${#subject}" -gt "$most" ]; then
        echo "commit message: the subject has ${#subject} characters, at most $most: $subject" >&2
        return 1
    fi
    case $subject in
    What\ * | Who\ * | The\ * | A\ * | An\ * | *.)
        echo "commit message: the subject is an imperative sentence without a full stop, as in 'Add a test': $subject" >&2
        return 1
        ;;
    esac
}

if [ "$1" = --range ]; then
    git log --no-merges --format=%s "$2" | {
        status=0
        while IFS= read -r line; do check "$line" || status=1; done
        exit $status
    }
else
    # The subject is the first line that is neither empty nor a comment.
    check "$(sed -n '/^#/d; /[^[:space:]]/{p;q;}' "$1")"
fi
