#!/bin/sh
# Runs a program in an unpacked image as a container runtime would, with what a Linux kernel has and nothing installed: the
# root read-only, /data writable, a fresh /tmp, uid 10001, no capability, no way to new privileges. Needs root.
#
#   unshare --mount --propagation private sh deploy/image/run-rootfs.sh <root> <data> <uid:gid> <folder> <program> [argument…]
#
# The environment is passed on. Signals reach the program, because every step replaces the one before.
set -eu
root=$1 data=$2 user=$3 folder=$4
shift 4
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mount -o remount,bind,ro "$root"
# The inner shell expands these variables.
# shellcheck disable=SC2016
exec chroot "$root" setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@"
