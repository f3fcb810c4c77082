#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the language of comments and documents.

  tests/prose_lint.py --tree            check every file, print a rate per folder
  tests/prose_lint.py --change [REV]    check the lines added since REV; without REV, since
                                        the commit that added this program
  tests/prose_lint.py FILE...           check whole files

Findings are printed as FILE:LINE: MESSAGE, followed by the number of findings per 1,000 words
of each folder. The exit status is 1 if a change or a file has a finding, or if a folder of the
tree exceeds 1.0 per 1,000 words; 2 after an error.

The rules are those of CONTRIBUTING.md: idioms (tests/prose_rules.txt), sentences that open with
a relative word, sentences of more than 35 words, names of static functions that occur in more
than three files, and, for a change, commit subjects that are not imperative. Headings,
questions, code, quoted text and fixed terms are exempt.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict

MAX_WORDS = 35
MAX_RATE = 1.0
MAX_FILES_PER_STATIC = 3
OWN_PATH = 'tests/prose_lint.py'
RULES_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'prose_rules.txt')

C_SUFFIXES = ('.c', '.h')
HASH_SUFFIXES = ('.sh', '.py', '.mk', '.awk')
HASH_NAMES = ('Makefile', 'Kbuild')
DOCUMENT_SUFFIXES = ('.md', '.scd')
# Golden outputs, recorded reports and the text of licences are not prose of this project.
SKIPPED = re.compile(r'^(LICENSE$|tests/(golden|fixtures/data)/|tests/prose_)')

OPENERS = re.compile(r'^(Of|What|Whether|Who|Whose|Whom|Those|Such|So many|So much|As many|Not what)\b')
FIXED_TERMS = re.compile(
    r'\b(turn(s|ed)? (on|off|out)|turn (it|them) (on|off)|in turn\b(?! o)|switched by turn|who am i|'
    r'as told by|[0-9]+-way|round trip)', re.I)
SUBJECT_STATE = re.compile(
    r'^([a-z0-9_/, .-]+: )?(what|those|of|an?|the|its?|there|nobody|whoever|'
    r'[a-z]+ (is|are|was|were|has|have|can|may|must))\b', re.I)
ABBREVIATION = re.compile(r'\b(e\.g|i\.e|etc|vs|cf|resp|approx|No|Fig|Sec|sec|Dr|St)\.$')


class Line:
    """A line of prose: its number in the file and its text without comment marks."""

    def __init__(self, number, text):
        self.number = number
        self.text = text


class Finding:
    def __init__(self, path, number, message):
        self.path = path
        self.number = number
        self.message = message

    def __str__(self):
        return f'{self.path}:{self.number}: {self.message}'


def load_rules():
    rules = []
    with open(RULES_PATH, encoding='utf-8') as file:
        for line in file:
            if line.startswith('#') or not line.strip():
                continue
            pattern, _, instead = line.rstrip('\n').partition('\t')
            rules.append((re.compile(rf'(?<![\w-])(?:{pattern})(?![\w-])', re.I), instead))
    return rules


# --- extraction -------------------------------------------------------------------------

def c_comments(text):
    """
    Yield (first line number, text, follows code) of each comment of C source, without its marks.
    """
    token = re.compile(
        r'(?P<block>/\*.*?\*/)|(?P<line>//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
        re.S)
    for match in token.finditer(text):
        if match.lastgroup == 'block':
            body = match.group()[2:-2]
        elif match.lastgroup == 'line':
            body = match.group()[2:]
        else:
            continue
        before = text[text.rfind('\n', 0, match.start()) + 1:match.start()]
        yield text.count('\n', 0, match.start()) + 1, body, bool(before.strip())


def c_paragraphs(text):
    paragraph = []
    last_end = 0
    for first, body, follows_code in c_comments(text):
        lines = body.split('\n')
        # Comments of one line that follow each other directly are one paragraph, except after
        # code: the comments of an enumeration or a table are independent.
        if paragraph and (follows_code or len(lines) > 1 or first != last_end + 1):
            yield paragraph
            paragraph = []
        for offset, raw in enumerate(lines):
            stripped = re.sub(r'^\s*\*+ ?', '', raw) if offset else raw.lstrip('*')
            paragraph.append(Line(first + offset, stripped))
        last_end = first + len(lines) - 1
    if paragraph:
        yield paragraph


def hash_paragraphs(text):
    """Yield paragraphs of # comments. Lines of a here-document are data."""
    paragraph, here_end = [], None
    for number, raw in enumerate(text.split('\n'), 1):
        if here_end is not None:
            if raw.strip() == here_end:
                here_end = None
            continue
        here = re.search(r'<<-?\s*([\'"]?)(\w+)\1', raw)
        if here and not raw.lstrip().startswith('#'):
            here_end = here.group(2)
        match = re.match(r'\s*#(?!!)+ ?(.*)', raw) or re.search(r'\s##? (.*)', raw)
        if match:
            paragraph.append(Line(number, match.group(1)))
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def document_paragraphs(text):
    """Yield paragraphs of Markdown or scdoc, without code blocks, headings and tables' rules."""
    paragraph = []
    fenced = False
    for number, raw in enumerate(text.split('\n'), 1):
        if re.match(r'\s*```', raw):
            fenced = not fenced
            raw = ''
        code = fenced or re.match(r'(    |\t)(?![-*] |\d+\. )', raw) and not paragraph
        heading = raw.startswith('#') or re.match(r'^\s*\|?[-:| ]+\|?\s*$', raw)
        if code or heading or not raw.strip():
            if paragraph:
                yield paragraph
                paragraph = []
            continue
        if raw.lstrip().startswith('|'):
            for cell in raw.strip().strip('|').split('|'):
                yield [Line(number, cell)]
            continue
        paragraph.append(Line(number, raw))
    if paragraph:
        yield paragraph


def paragraphs_of(path, text):
    if path.endswith(C_SUFFIXES):
        yield from c_paragraphs(text)
    elif path.endswith(DOCUMENT_SUFFIXES):
        yield from document_paragraphs(text)
    else:
        yield from hash_paragraphs(text)


def is_checked(path):
    name = os.path.basename(path)
    return not SKIPPED.search(path) and (
        path.endswith(C_SUFFIXES + HASH_SUFFIXES + DOCUMENT_SUFFIXES) or name in HASH_NAMES)


# --- sentences --------------------------------------------------------------------------

def blank_out(match):
    return ' CODE ' if match.group().strip() else match.group()


def without_code(text):
    """Replace code, quotations, links and markup by a word each."""
    text = re.sub(r'``[^`]*``|`[^`]*`', blank_out, text)
    text = re.sub(r'"[^"\n]*"|“[^”]*”|(?<!\w)\'[^\'\n]+\'(?!\w)', blank_out, text)
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'\S*(::|->|\(\)|/[\w.*-]+/|_)\S*', ' CODE ', text)
    return FIXED_TERMS.sub(' TERM ', text)


BREAK = re.compile(r'^\s*([-*+•] |--\w|\d+[.)] |@\w+:|\||$|.*:$|SPDX-)')


def sentences_of(paragraph):
    """Yield (lines, text) of each sentence. Lists and kernel-doc tags end a sentence."""
    groups = [[]]
    for line in paragraph:
        if BREAK.match(line.text) and groups[-1]:
            groups.append([])
        # Indented lines of a comment that begin with code or an option are examples.
        if re.match(r'^(\t| {3,})\S', line.text) and not groups[-1]:
            continue
        groups[-1].append(line)
        if line.text.rstrip().endswith(':'):
            groups.append([])
    for group in groups:
        if not group:
            continue
        words, owners = [], []
        joined = without_code('\n'.join(line.text for line in group)).split('\n')
        if len(joined) != len(group):
            joined = [without_code(line.text) for line in group]
        for line, text in zip(group, joined):
            for word in text.split():
                words.append(re.sub(r'^([-*+•]|\d+[.)]|@\w+:)$', '', word))
                owners.append(line.number)
        start = 0
        for index, word in enumerate(words):
            ends = re.search(r'[.!?]["\')]*$', word) and not ABBREVIATION.search(word)
            if ends or index == len(words) - 1:
                text = ' '.join(w for w in words[start:index + 1] if w)
                if text:
                    yield sorted(set(owners[start:index + 1])), text
                start = index + 1


def sentence_messages(text, rules):
    if text.endswith('?'):
        return
    for pattern, instead in rules:
        for match in pattern.finditer(text):
            yield f'idiom "{match.group()}": use {instead}'
    opener = OPENERS.match(text)
    if opener:
        yield f'a sentence opens with "{opener.group()}": name the subject first'
    count = len(re.findall(r"[A-Za-z0-9][\w'’/-]*", text))
    if count > MAX_WORDS:
        yield f'a sentence of {count} words: divide it (at most {MAX_WORDS})'


def check_file(path, rules, added=None):
    """Return the findings of a file and its number of words; with @added, of these lines."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
    except OSError as error:
        sys.exit(f"prose_lint: cannot open '{path}': {error.strerror}")
    findings, words = [], 0
    for paragraph in paragraphs_of(path, text):
        for lines, sentence in sentences_of(paragraph):
            if added is not None and not added.intersection(lines):
                continue
            words += len(sentence.split())
            for message in sentence_messages(sentence, rules):
                findings.append(Finding(path, lines[0], message))
    return findings, words


# --- static names -----------------------------------------------------------------------

STATIC = re.compile(r'^static\b(?![^(\n]*=)[^(\n;]*?\b(\w+)\((?!\()', re.M)


def static_findings(paths, added):
    """Report static functions with a name that more than MAX_FILES_PER_STATIC files define."""
    places = defaultdict(dict)
    for path in paths:
        if not path.endswith('.c') or path.startswith('tests/'):
            continue
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
        for match in STATIC.finditer(text):
            if match.group(1).startswith('__'):
                continue
            places[match.group(1)].setdefault(path, text.count('\n', 0, match.start()) + 1)
    findings = []
    for name, where in sorted(places.items()):
        if len(where) <= MAX_FILES_PER_STATIC:
            continue
        for path, number in sorted(where.items()):
            if added is None or number in added.get(path, ()):
                findings.append(Finding(path, number, f'static function {name}() is defined in '
                                        f'{len(where)} files: prefix it with its object'))
    return findings


# --- git --------------------------------------------------------------------------------

def git(*arguments):
    result = subprocess.run(('git',) + arguments, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f'prose_lint: git {arguments[0]}: {result.stderr.strip()}')
    return result.stdout


def first_revision():
    """Return the commit that added this program, or None in a checkout without history."""
    commits = git('log', '--diff-filter=A', '--format=%H', '--', OWN_PATH).split()
    return commits[-1] if commits else None


def added_lines(base):
    added = defaultdict(set)
    path = None
    for line in git('diff', '-U0', '--no-color', '--no-ext-diff', base).split('\n'):
        if line.startswith('+++ '):
            path = line[6:] if line.startswith('+++ b/') else None
        hunk = re.match(r'@@ -\S+ \+(\d+)(?:,(\d+))? @@', line)
        if hunk and path:
            start, count = int(hunk.group(1)), int(hunk.group(2) or 1)
            added[path].update(range(start, start + count))
    for path in git('ls-files', '--others', '--exclude-standard').split('\n'):
        if path and is_checked(path):
            with open(path, 'rb') as file:
                added[path].update(range(1, file.read().count(b'\n') + 2))
    return added


def subject_findings(base):
    findings = []
    for line in git('log', '--format=%h %s', f'{base}..HEAD').split('\n'):
        commit, _, subject = line.partition(' ')
        if subject and SUBJECT_STATE.match(subject):
            findings.append(Finding('commit', commit, f'subject "{subject}" does not name the '
                                    'change in the imperative'))
    return findings


# --- output -----------------------------------------------------------------------------

def folder_of(path):
    return path.split('/')[0] if '/' in path else '.'


def print_rates(findings, words):
    per_folder = defaultdict(int)
    for finding in findings:
        per_folder[folder_of(finding.path)] += 1
    worst = 0.0
    for folder in sorted(words):
        rate = 1000.0 * per_folder[folder] / words[folder] if words[folder] else 0.0
        worst = max(worst, rate)
        print(f'  {folder:<14} {words[folder]:7d} words {per_folder[folder]:6d} findings '
              f'{rate:6.1f} per 1,000')
    return worst


def check_change(base, rules):
    base = base or first_revision()
    if not base:
        return []
    added = added_lines(base)
    paths = [path for path in sorted(added) if is_checked(path) and os.path.isfile(path)]
    findings = []
    for path in paths:
        findings += check_file(path, rules, added[path])[0]
    tree = [path for path in git('ls-files', '-co', '--exclude-standard').split('\n')
            if path.endswith('.c') and os.path.isfile(path)]
    return findings + static_findings(tree, added) + subject_findings(base)


def check_tree(rules):
    paths = [path for path in git('ls-files').split('\n')
             if path and is_checked(path) and os.path.isfile(path)]
    findings, words = [], defaultdict(int)
    for path in paths:
        found, count = check_file(path, rules)
        findings += found
        words[folder_of(path)] += count
    return findings + static_findings(paths, None), words


def main(arguments):
    rules = load_rules()
    if arguments and arguments[0] == '--tree':
        os.chdir(git('rev-parse', '--show-toplevel').strip())
        findings, words = check_tree(rules)
        print('\n'.join(map(str, findings)))
        return int(print_rates(findings, words) > MAX_RATE)
    if arguments and arguments[0] == '--change':
        os.chdir(git('rev-parse', '--show-toplevel').strip())
        findings = check_change(arguments[1] if len(arguments) > 1 else None, rules)
    elif arguments and not arguments[0].startswith('-'):
        findings = [finding for path in arguments for finding in check_file(path, rules)[0]]
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if findings:
        print('\n'.join(map(str, findings)))
    return int(bool(findings))


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            sys.exit(2)
        raise
