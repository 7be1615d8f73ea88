"""The machines that scripts/kernels makes out of one kernel, and how what was seen on them is judged."""

# variant: what it is, in the words of the table.
VARIANTS = {
    "no-overlay": "no overlay module",
    "base": "as it comes",
    "no-clone": "`kernel.unprivileged_userns_clone=0`",
    "no-namespaces": "`user.max_user_namespaces=0`",
    "container": "behind a filter like Docker's",
    "container-allowed": "the same with the rule below",
    "docker": "Docker's own profile, parts of `/proc` masked",
    "docker-root": "the same as root with a container's capabilities",
    "docker-opened": "Docker's own profile and the rule below",
    "podman": "Podman's own profile, parts of `/proc` masked",
    "podman-root": "the same as root with a container's capabilities",
    "kubernetes": "no profile, parts of `/proc` masked (Kubernetes)",
    "no-mounts": "user namespaces without powers, as Ubuntu restricts them",
    "no-programs-in-memory": "`vm.memfd_noexec=2`",
    "apparmor": "AppArmor refuses user namespaces",
    "apparmor-profile": "the same after `eclusa install --apparmor`",
    "plain-renames": "renames have no flags, as on NFS, 9p and FUSE",
    "odd-answers": "a filter that refuses calls without a pattern",
    "random-1": "a filter that refuses a tenth of 60 calls, drawn by lot",
    "random-2": "another draw",
    "random-3": "a third draw",
    "no-landlock": "`lsm=` without Landlock",
    "on-overlay": "home and state on an overlay (a container's own disk)",
    "only-overlays": "no filesystem but overlays and memory",
    "no-attributes": "home on a filesystem without `user.*` attributes",
    "case-insensitive": "home on a filesystem that ignores case (ext4)",
    "fuse": "home on FUSE (bindfs)",
    "nfs": "home on NFS 4.2",
    "no-exec": "`noexec` on home, `/tmp`, `/var/tmp` and `/dev/shm`",
    "hidden-processes": "`/proc` with `hidepid=2`",
    "cgroup-1": "control groups, first version",
    "cgroup-2": "control groups, second version, delegated",
    "root": "root",
}

# The level that is the goal of a variant. Anything else may be less, and says so.
MASKED = "partial, without a /proc of its own"
GOALS = dict.fromkeys(("base", "cgroup-1", "cgroup-2", "root", "hidden-processes", "on-overlay", "container-allowed", "docker-opened",
                       "apparmor-profile", "no-exec", "no-attributes", "fuse", "nfs", "plain-renames"), "full")
GOALS |= {"docker": "snapshot", "docker-root": "snapshot", "podman": MASKED, "podman-root": MASKED, "kubernetes": MASKED}
# Where calls are refused without a pattern, commands may fail; none may do more than is said.
ODD = {"odd-answers", "random-1", "random-2", "random-3"}
# What a kernel does not have: no rule of AppArmor for user namespaces before 6.7, no case folding,
# and programs in memory always run before 6.3.
# `here` are variants that are about other kernels or would change this machine for everybody.
WITHOUT = {
    "here": {"no-overlay", "no-clone", "no-namespaces", "no-landlock", "case-insensitive", "nfs", "cgroup-1", "cgroup-2", "apparmor", "apparmor-profile"},
    "bullseye": {"no-programs-in-memory", "apparmor", "apparmor-profile", "case-insensitive"},
    "bookworm": {"no-programs-in-memory", "apparmor", "apparmor-profile"},
}

# What may succeed where the program says that a part does not hold. All else is never to succeed.
EXCUSED = {
    "chmod-outside": {"namespaces"}, "touch-outside": {"namespaces"}, "attribute-outside": {"namespaces"},
    "see-process": {"namespaces", "own /proc"}, "signal": {"signals"}, "many-processes": {"processes"},
}
# These succeed inside, in a place of the command's own; what came of them outside is looked at.
INSIDE_ONLY = {"write-tmp", "left-behind", "many-processes"}


def judged(suite, variant, rows):
    """What is wrong with what was seen in one variant."""
    wrong = []
    row = {it["what"]: it for it in rows}
    doctor = row.get("doctor")
    if not doctor or "end" not in row or row["end"]["code"] != 0:
        return ["it did not come to its end"]
    level = doctor["level"]
    away = {part["name"] for part in doctor["parts"] if not part["holds"]}
    if doctor["processes"] == "not held":
        away.add("processes")
    if suite != "bullseye" and level != GOALS.get(variant, level):
        wrong.append(f"the level is `{level}`, and `{GOALS[variant]}` is the goal")
    if variant == "no-programs-in-memory" and not any("memfd_noexec" in (part.get("fix") or "") for part in doctor["parts"]):
        wrong.append("doctor does not name the setting")
    if variant == "case-insensitive" and not any("put the workspace" in (part.get("fix") or "") for part in doctor["parts"]):
        wrong.append("doctor does not say that the workspace is the cause")
    if variant == "apparmor":
        if not any("--apparmor" in (part.get("fix") or "") for part in doctor["parts"]):
            wrong.append("doctor does not name the profile of AppArmor")
        if "--apparmor" not in row["demo"]["said"].split("\n")[0]:
            wrong.append(f"the first line of the demo does not name the profile of AppArmor: {row['demo']['said']}")
    panics = [what for what, it in row.items() if "panicked" in str(it.get("said", ""))]
    if panics:
        wrong.append(f"it panicked: {', '.join(panics)}")
    if level == "none":
        if row["default"]["made"] or row["apply"]["made"] or row["tries"]["tries"]:
            wrong.append("a command ran at level none")
        if row["hook"]["decision"] == "allow":
            wrong.append("the hook allows a command at level none")
        return wrong
    done = {name for name, how in row["tries"]["tries"].items() if how.startswith("done")} - INSIDE_ONLY
    done |= set(row["tries"]["found"])
    if not row["tries"]["tries"] and variant not in ODD:
        wrong.append(f"nothing could be tried: {row['tries']['said']}")
    for name in sorted(done):
        if not EXCUSED.get(name, set()) & away:
            wrong.append(f"`{name}` succeeded")
    if not row["discard"]["is_kept"]:
        wrong.append("a command that was to be discarded changed the workspace")
    if row["memory"]["ate"] and doctor["memory"] != "not held":
        wrong.append("memory is not held")
    if variant in ODD:
        return wrong
    if not row["apply"]["made"]:
        wrong.append(f"nothing is applied: {row['apply']['said']}")
    if level.startswith(("full", "snapshot", MASKED)):
        changed = row.get("attacks", {}).get("changed", ["nothing was tried"])
        wrong += [f"not as it was before: {it}" for it in changed]
        for what in ("default", "odd-names"):
            if not row[what]["made"]:
                wrong.append(f"{what}: {row[what]['said']}")
        if not row["undo"]["is_gone"]:
            wrong.append(f"undo: {row['undo']['said']}")
        if not row["read"]["is_right"]:
            wrong.append(f"reading: {row['read']['said']}")
        if row["hook"]["decision"] != "allow" or not row.get("ticket", {}).get("is_right"):
            wrong.append(f"hook: {row['hook']} {row.get('ticket')}")
    return wrong
