"""For a class: the first page with the course and one's progress; what the class has solved."""

from pipekit.learn.classroom.start_page import StartPage

__all__ = ["StartPage"]
