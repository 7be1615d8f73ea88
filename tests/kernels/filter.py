"""Runs a program behind a filter of system calls, as machines have them that allow less.

    filter.py FILE PROGRAM ...          one that `scripts/profiles.py` has made from an engine's own profile
    filter.py container PROGRAM ...     like Docker's default: no namespaces, mounts, keyrings; `clone3` is not there
    filter.py container-allowed ...     the same without the calls that /kernels/allowed names, as docs/sandbox.md has them
    filter.py no-mounts PROGRAM ...     user namespaces can be made and have no powers, as under Ubuntu's restriction
    filter.py plain-renames PROGRAM ... every rename with flags is invalid, as on NFS, 9p and FUSE
    filter.py odd-answers PROGRAM ...   some calls are not there and some are refused, without a pattern
    filter.py random-N PROGRAM ...      the same, drawn by lot: a tenth of those that follow, by the number N
"""
import ctypes, errno, os, platform, random, struct, sys

X86_64, AARCH64 = 0, 1
NUMBERS = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "sethostname": (170, 161),
    "open_by_handle_at": (304, 265), "clone": (56, 220), "clone3": (435, 435), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "io_uring_setup": (425, 425), "statx": (332, 291), "close_range": (436, 436), "openat2": (437, 437),
    "name_to_handle_at": (303, 264), "pidfd_open": (434, 434),
    "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
    "memfd_create": (319, 279), "execveat": (322, 281), "faccessat2": (439, 439), "renameat2": (316, 276), "copy_file_range": (326, 285),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10),
    "listxattr": (194, 11), "flistxattr": (196, 13), "pidfd_send_signal": (424, 424), "waitid": (247, 95), "prlimit64": (302, 261),
    "inotify_init1": (294, 26), "signalfd4": (289, 74), "timerfd_create": (283, 85), "linkat": (265, 37), "symlinkat": (266, 36),
    "mknodat": (259, 33), "fallocate": (285, 47), "fchmodat2": (452, 452), "fchownat": (260, 54), "utimensat": (280, 88), "flock": (73, 32),
    "sendmsg": (46, 211), "recvmsg": (47, 212), "process_vm_readv": (310, 270), "ptrace": (101, 117), "fstatfs": (138, 44), "statfs": (137, 43),
}
MOUNTS = "mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr".split()
NAMESPACES = 0x7E020080


def refusals(kind):
    if kind == "container-allowed":
        with open("/kernels/allowed") as file:
            allowed = set(file.read().split())
        return [(name, error) for name, error in refusals("container") if name not in allowed]
    if kind == "plain-renames":
        return []
    if kind.startswith("random-"):
        lot = random.Random(int(kind.removeprefix("random-")))
        return [(name, lot.choice([errno.EPERM, errno.ENOSYS])) for name in NUMBERS if lot.random() < 0.1]
    if kind == "container":
        more = "unshare setns keyctl add_key request_key bpf perf_event_open userfaultfd sethostname open_by_handle_at".split()
        return [(name, errno.EPERM) for name in MOUNTS + more + ["pidfd_getfd", "kcmp", "io_uring_setup"]] + [("clone3", errno.ENOSYS)]
    if kind == "no-mounts":
        return [(name, errno.EACCES) for name in MOUNTS] + [("sethostname", errno.EPERM)]
    return [("fsmount", errno.ENOSYS), ("openat2", errno.EPERM), ("close_range", errno.ENOSYS), ("pidfd_open", errno.EPERM), ("setns", errno.ENOSYS)]


def program(kind):
    machine = AARCH64 if platform.machine() == "aarch64" else X86_64
    load, equal, set_, give = 0x20, 0x15, 0x45, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000
    code = [(load, 0, 0, 0)]  # the call's number
    refused = refusals(kind)
    for name, error in refused:
        code += [(equal, 0, 1, NUMBERS[name][machine]), (give, 0, 0, refuse | error)]
    if kind == "container":
        code += [(equal, 0, 3, NUMBERS["clone"][machine]), (load, 0, 0, 16), (set_, 0, 1, NAMESPACES), (give, 0, 0, refuse | errno.EPERM)]
    if kind == "plain-renames":
        code += [(equal, 0, 3, NUMBERS["renameat2"][machine]), (load, 0, 0, 48), (equal, 1, 0, 0), (give, 0, 0, refuse | errno.EINVAL)]
    code.append((give, 0, 0, allow))
    return b"".join(struct.pack("HBBI", *one) for one in code), len(code)


def main():
    kind, words = sys.argv[1], sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    if "/" in kind:
        with open(kind, "rb") as file:
            code = file.read()
        length = len(code) // 8
    else:
        code, length = program(kind)
    buffer = ctypes.create_string_buffer(code)

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    described = Filter(length, ctypes.addressof(buffer))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(described), 0, 0):
        sys.exit(f"the filter cannot be installed: {os.strerror(ctypes.get_errno())}")
    os.execvp(words[0], words)


main()
