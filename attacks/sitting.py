"""A person in front of a terminal, and people who sign what git makes."""
import fcntl, pty, struct, termios

from later import *

PERSON = "[user]\n\tname = Ana\n\temail = ana@example.org\n"


class Person:
    """A program on a terminal, and who sits there."""

    def __init__(self, world, *words, env=None, size=(50, 200), cwd=None, input=None):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        env = {**world.env, "NO_COLOR": "1", **(env or {})}

        def attach():
            os.setsid()
            fcntl.ioctl(1, termios.TIOCSCTTY, 0)

        # What a program reads may be no terminal; the person is asked at theirs all the same.
        stdin = theirs if input is None else open(world.write(f"input-{time.monotonic_ns()}", input), "rb")
        self.process = subprocess.Popen([PROGRAM, *words], cwd=cwd or world.ws, env=env, stdin=stdin, stdout=theirs, stderr=theirs, preexec_fn=attach)
        os.close(theirs)
        OPENED.append(self.process)
        self.seen, self.at, self.over = "", 0, False

    def more(self, wait):
        ready, _, _ = select.select([self.ours], [], [], wait)
        if not ready:
            return
        try:
            got = os.read(self.ours, 65536)
        except OSError:
            got = b""
        self.over = self.over or not got
        self.seen += got.decode(errors="replace")

    def sees(self, text, wait=LONG):
        """Whether this comes after what was seen before."""
        end = time.monotonic() + wait
        while (found := self.seen.find(text, self.at)) < 0:
            if self.over or time.monotonic() > end:
                return False
            self.more(0.2)
        self.at = found + len(text)
        return True

    def types(self, text):
        os.write(self.ours, text.encode())

    def answers(self, word, prompt="? ["):
        """Waits for a question, answers it, and returns what stood there."""
        before = self.at
        if not self.sees(prompt):
            return None
        shown = self.seen[before:self.at]
        self.types(word + "\n")
        return shown

    def ends(self, wait=LONG):
        end = time.monotonic() + wait
        while not self.over and time.monotonic() < end:
            self.more(0.2)
        try:
            return self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return -99


def questions(person, answers):
    asked = []
    for word in answers:
        shown = person.answers(word)
        if shown is None:
            break
        asked.append(flat(shown))
        if word == "n":
            if person.sees("Why?", 5):
                person.types("\n")
    person.ends()
    return asked, flat(person.seen)


def is_about_signing(question):
    return "signs exactly that with your key" in question


def flat(text):
    """Without line breaks and the bars of what others wrote."""
    return " ".join(text.replace("│", " ").replace("┊", " ").split())


class Signers(World):
    """A repository of somebody who signs commits and tags with a key of ssh."""

    def __init__(self, config="", settings="[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n"):
        super().__init__(config)
        needs_sandbox(self)
        if not shutil.which("ssh-keygen") or not shutil.which("git"):
            cannot("there is no git, or no ssh-keygen")
        self.env["GIT_CONFIG_NOSYSTEM"] = "1"
        self.write("home/.gitconfig", PERSON)
        self.plainly("git init -q -b main . && echo one > a.txt && git add -A && git commit -qm first")
        os.mkdir(self.path("home/.ssh"), 0o700)
        self.plainly("ssh-keygen -q -t ed25519 -N '' -C ana -f ~/.ssh/id && echo \"ana@example.org $(cat ~/.ssh/id.pub)\" > ~/allowed")
        # Their own program keeps what it signs: nothing is signed that is not seen here.
        os.mkdir(self.path("home/signed"))
        self.write("home/signer", f'#!/bin/sh\n[ "$2" = sign ] || exec ssh-keygen "$@"\nkept=$(mktemp {self.home}/signed/XXXXXX); cat > $kept; exec ssh-keygen "$@" < $kept\n', 0o755)
        self.write("home/.gitconfig", PERSON + f"\tsigningKey = ~/.ssh/id.pub\n{settings}[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = {self.home}/signer\n\tallowedSignersFile = {self.home}/allowed\n")

    def plainly(self, text):
        """The person's own shell."""
        ran = self.sh(f"set -e\n{text}")
        control(ran.code == 0, f"{text}: {ran}")
        return ran.out.strip()

    def asks(self, command, *words, env=None):
        return Person(self, *words, "run", "bash", json.dumps({"command": command}), env=env)

    def signs(self, command, *answers, env=None, words=()):
        """What is asked, and how it ends: (questions, everything seen)."""
        return questions(self.asks(command, *words, env=env), answers)

    def feeds(self, *calls_and_answers):
        """Calls of one conversation, one after the other, in one process: its questions, and everything seen."""
        made = [it if isinstance(it, tuple) else ("bash", {"command": it}) for it in calls_and_answers[0]]
        return questions(Person(self, "feed", input=calls(*made)), calls_and_answers[1])

    def is_signed(self, what="HEAD"):
        return "BEGIN SSH SIGNATURE" in self.sh(f"git cat-file -p {what}").out

    def signed(self):
        """Every text that the person's key has signed."""
        return [open(it, errors="replace", newline="").read() for it in glob.glob(self.path("home/signed/*"))]

    def plainly(self, text):
        """The person's own shell."""
        ran = self.sh(f"set -e\n{text}")
        control(ran.code == 0, f"{text}: {ran}")
        return ran.out.strip()

    def asks(self, command, *words, env=None):
        return Person(self, *words, "run", "bash", json.dumps({"command": command}), env=env)

    def signs(self, command, *answers, env=None, words=()):
        """What is asked, and how it ends: (questions, everything seen)."""
        return questions(self.asks(command, *words, env=env), answers)

    def feeds(self, *calls_and_answers):
        """Calls of one conversation, one after the other, in one process: its questions, and everything seen."""
        made = [it if isinstance(it, tuple) else ("bash", {"command": it}) for it in calls_and_answers[0]]
        return questions(Person(self, "feed", input=calls(*made)), calls_and_answers[1])

    def is_signed(self, what="HEAD"):
        return "BEGIN SSH SIGNATURE" in self.sh(f"git cat-file -p {what}").out

    def signatures(self):
        """How often the person's key was used: what it made lies nowhere but in git and in answers."""
        return self.sh("git cat-file --batch-all-objects --batch 2>/dev/null | grep -c 'BEGIN SSH SIGNATURE'").out.strip()

    def works(self):
        """The control: an honest commit is asked about by its message and signed."""
        asked, seen = self.signs("echo two >> a.txt && git commit -qam 'second thoughts'", "y", "y")
        control("second thoughts" in asked[0] and "signs exactly that" in asked[0], f"the question: {seen}")
        control(self.plainly("git log -1 --format=%G?") == "G", f"it is signed: {seen}")
        control([it for it in self.signed() if it.endswith("\n\nsecond thoughts\n")], "the person's program has signed it")
