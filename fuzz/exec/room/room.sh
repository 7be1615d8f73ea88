# The room: a root of its own in memory, the system's programs read-only, no network. Run by
# `unshare` in namespaces of its own; `$1` is an empty directory, `$2` the program of the hunt, `$3` its
# orders, `$4` what stands in the place of programs.
set -eu
root=$1
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir "$root/w" "$root/hunt" "$root/tmp" "$root/home" "$root/dev" "$root/proc" "$root/shim"
chmod 1777 "$root/tmp"
lay() { mount --rbind "$1" "$2"; mount -o remount,bind,ro "$2"; }
for name in usr etc bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then
    mkdir "$root/$name"
    lay "/$name" "$root/$name"
  fi
done
for name in null zero full random urandom; do
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
cp "$2" "$root/hunt/hunt"
cp "$3" "$root/hunt/orders"
cp "$4" "$root/hunt/shim"
# Shells are often started by their whole name: the real ones lie elsewhere.
mkdir "$root/hunt/real"
for shell in sh bash dash; do
  if [ -x "/bin/$shell" ]; then
    cp -L "/bin/$shell" "$root/hunt/real/$shell"
  fi
done
for shell in sh bash dash; do
  if [ -x "$root/bin/$shell" ]; then
    mount --bind "$root/hunt/shim" "$root/bin/$shell" 2>/dev/null || true
  fi
done
exec chroot "$root" /hunt/hunt inside
