"""What a person sees of a program on a terminal: a screen of letters, as the program's output has drawn it. Used by
agents_ahead.py. Programs draw what has changed alone, so what came over the wire last is not what stands there."""
import re, unicodedata

TOKEN = re.compile(r"\x1b\[([0-9;:?<>=!]*)([ -/]*)([@-~])|\x1b([\]PX^_])|\x1b[ -/]+[0-~]|\x1b([0-9=><A-OQ-WZ\\a-z|}~])|([\x00-\x1a\x1c-\x1f\x7f])|([^\x00-\x1f\x7f]+)", re.S)
END_OF_STRING = re.compile(r"\x07|\x1b\\")


class Terminal:
    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.kept, self.saved, self.rest = None, (0, 0), ""
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = self.top = 0
        self.bottom = self.rows - 1

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def feed(self, text):
        """Takes what the program has written; what is cut off at its end waits for the rest."""
        text, self.rest, at = self.rest + text, "", 0
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                self.rest = text[at:]
                return
            string, end = found[4], found.end()
            if string:
                closed = END_OF_STRING.search(text, end)
                if closed is None:
                    self.rest = text[at:]
                    return
                end = closed.end()
            elif found[3]:
                self.control(found[1], found[2], found[3])
            elif found[5]:
                self.escape(found[5])
            elif found[6]:
                self.move(found[6])
            elif found[7]:
                for letter in found[7]:
                    self.draw(letter)
            at = end

    def draw(self, letter):
        if unicodedata.combining(letter) or letter in "\ufe0f\u200d":
            return
        wide = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if self.column + wide > self.columns:
            self.column = 0
            self.index()
        line = self.cells[self.row]
        line[self.column] = letter
        if wide == 2:
            line[self.column + 1] = ""
        self.column += wide

    def move(self, letter):
        if letter in "\n\x0b\x0c":
            self.index()
        elif letter == "\r":
            self.column = 0
        elif letter == "\b":
            self.column = max(0, min(self.column, self.columns) - 1)
        elif letter == "\t":
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)

    def escape(self, letter):
        if letter == "D":
            self.index()
        elif letter == "E":
            self.column = 0
            self.index()
        elif letter == "M":
            if self.row == self.top:
                self.scroll(-1)
            else:
                self.row = max(0, self.row - 1)
        elif letter == "7":
            self.saved = self.row, self.column
        elif letter == "8":
            self.row, self.column = self.saved
        elif letter == "c":
            self.clear()

    def index(self):
        if self.row == self.bottom:
            self.scroll(1)
        else:
            self.row = min(self.rows - 1, self.row + 1)

    def scroll(self, count, top=None):
        """Up by so many lines, or down where it is less than nothing."""
        top, empty = self.top if top is None else top, lambda: [" "] * self.columns
        for _ in range(min(abs(count), self.rows)):
            if count > 0:
                del self.cells[top]
                self.cells.insert(self.bottom, empty())
            else:
                del self.cells[self.bottom]
                self.cells.insert(top, empty())

    def control(self, words, between, letter):
        if words[:1] == "?" and letter in "hl" and "1049" in words.split("?")[1].split(";"):
            if letter == "h":
                self.kept = self.cells, self.row, self.column
                self.clear()
            elif self.kept:
                self.cells, self.row, self.column = self.kept
            return
        if between or words[:1] in ("?", "<", ">", "=", "!"):
            return
        numbers = [int(it) if it.isdigit() else 0 for it in words.split(";")]
        first = max(1, numbers[0])
        second = max(1, numbers[1]) if len(numbers) > 1 else 1
        line, column = self.cells[self.row], min(self.column, self.columns - 1)
        if letter in "Hf":
            self.row, self.column = min(first, self.rows) - 1, min(second, self.columns) - 1
        elif letter in "AF":
            self.row = max(0, self.row - first)
        elif letter in "BE":
            self.row = min(self.rows - 1, self.row + first)
        elif letter == "C":
            self.column = min(self.columns - 1, self.column + first)
        elif letter == "D":
            self.column = max(0, column - first)
        elif letter == "G":
            self.column = min(first, self.columns) - 1
        elif letter == "d":
            self.row = min(first, self.rows) - 1
        elif letter == "J":
            if numbers[0] == 0:
                line[column:] = [" "] * (self.columns - column)
                wiped = range(self.row + 1, self.rows)
            elif numbers[0] == 1:
                line[:column + 1] = [" "] * (column + 1)
                wiped = range(self.row)
            else:
                wiped = range(self.rows)
            for at in wiped:
                self.cells[at] = [" "] * self.columns
        elif letter == "K":
            begin, end = {0: (column, self.columns), 1: (0, column + 1)}.get(numbers[0], (0, self.columns))
            line[begin:end] = [" "] * (end - begin)
        elif letter in "LM":
            self.scroll(first if letter == "M" else -first, self.row)
        elif letter == "P":
            line[column:] = (line[column + first:] + [" "] * self.columns)[:self.columns - column]
        elif letter == "@":
            line[column:] = ([" "] * first + line[column:])[:self.columns - column]
        elif letter == "X":
            end = min(self.columns, column + first)
            line[column:end] = [" "] * (end - column)
        elif letter in "ST":
            self.scroll(first if letter == "S" else -first)
        elif letter == "r":
            last = numbers[1] if len(numbers) > 1 and numbers[1] else self.rows
            self.top, self.bottom = first - 1, min(last, self.rows) - 1
            self.row = self.column = 0
        elif letter == "s":
            self.saved = self.row, self.column
        elif letter == "u":
            self.row, self.column = self.saved
        if letter in "EF":
            self.column = 0
