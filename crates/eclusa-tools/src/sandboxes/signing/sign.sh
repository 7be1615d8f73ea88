#!/bin/bash -p
# What git calls to sign: the text goes to whoever started this sandbox, where the key is.
here=/run/eclusa-sign
case " $* " in
*" -bsau "*) ;;
*) echo "signatures are made here, and not verified: the sandbox has no keys" >&2; exit 1 ;;
esac
name=$$-$RANDOM$RANDOM
cat > "$here/$name.new" && mv "$here/$name.new" "$here/$name.ask" || exit 1
until [ -e "$here/$name.yes" ] || [ -e "$here/$name.no" ]; do sleep 0.02; done
if [ -e "$here/$name.yes" ]; then
  cat "$here/$name.yes"
  printf '\n[GNUPG:] SIG_CREATED \n' >&2
else
  cat "$here/$name.no" >&2
  exit 1
fi
