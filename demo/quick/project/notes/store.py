"""Notes that people keep. Each has an author and a title."""


class Notes:
    def __init__(self):
        self._notes = []

    def add(self, author, title, text=""):
        if not title:
            raise ValueError("a note needs a title")
        self._notes.append((author, title, text))

    def titles(self):
        return [title for _, title, _ in self._notes]
