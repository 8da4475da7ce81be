# Part of hack/check-placement: splits shell into words and operators. Standard awk.

function add_token(type, text, line) { n_tok++; tok_type[n_tok] = type; tok[n_tok] = text; tok_line[n_tok] = line }

# Where the parenthesis that opens at i closes, in text.
function closing(text, i,    depth, c, quote) {
  for (; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (quote != "") { if (c == "\\" && quote == "\"") i++; else if (c == quote) quote = "" }
    else if (c == "\\") i++
    else if (c == "'" || c == "\"") quote = c
    else if (c == "(") depth++
    else if (c == ")" && --depth == 0) return i
  }
  return length(text)
}

function count_lines(text,    copy) { copy = text; return gsub(/\n/, "", copy) }

# Splits shell into tok: words ("w", quotes taken off), operators ("o") and ends of line ("o", newline).
function tokenize(text, line,    i, c, d, word, has, end, skip, doc, n_doc, docs, rest, pos, strip, body) {
  n_tok = 0
  for (i = 1; i <= length(text) + 1; i++) {
    c = i > length(text) ? "\n" : substr(text, i, 1)
    d = substr(text, i + 1, 1)
    if (c == "\\" && d == "\n") { line++; i++; continue }
    if (c == "\\") { word = word d; has = 1; i++; continue }
    if (c == "'") {
      end = index(substr(text, i + 1), "'")
      if (end == 0) end = length(text) - i + 1
      body = substr(text, i + 1, end - 1)
      word = word body; has = 1; i += end; line += count_lines(body); continue
    }
    if (c == "\"") {
      has = 1
      for (i++; i <= length(text) && (c = substr(text, i, 1)) != "\""; i++) {
        if (c == "$" && substr(text, i + 1, 1) == "(") { end = closing(text, i + 1); c = substr(text, i, end - i + 1); i = end }
        else if (c == "\\") { i++; c = substr(text, i, 1) }
        line += count_lines(c)
        word = word c
      }
      continue
    }
    if (c == "$" && d == "(" || c == "<" && d == "(" && !has) {
      end = closing(text, i + 1)
      body = substr(text, i, end - i + 1)
      word = word body; has = 1; line += count_lines(body); i = end; continue
    }
    if (c == "`") {
      end = index(substr(text, i + 1), "`")
      if (end == 0) end = length(text) - i + 1
      body = substr(text, i, end + 1)
      word = word body; has = 1; line += count_lines(body); i += end; continue
    }
    if (c == "#" && !has) { while (i <= length(text) && substr(text, i, 1) != "\n") i++; i--; continue }
    if (c !~ /[ \t\n;&|()<>]/) { word = word c; has = 1; continue }
    # An end of a word. The digits before a redirection are a part of it, and its target is no argument.
    if (has && !((c == "<" || c == ">") && word ~ /^[0-9]+$/)) {
      if (doc != "") { docs[++n_doc] = word; doc = "" }
      else if (!skip) add_token("w", word, line)
      skip = 0
    }
    word = ""; has = 0
    if (c == " " || c == "\t") continue
    if (c == "<" || c == ">") {
      rest = substr(text, i)
      if (rest ~ /^<<[^<]/) { i++; strip = substr(text, i + 1, 1) == "-"; if (strip) i++; doc = "yes"; continue }
      match(rest, /^[<>]+[&|]?/)
      i += RLENGTH - 1; skip = 1; continue
    }
    if (c == "&" && d == ">") continue # bash: both streams, what follows is a redirection
    if (c == "\n") {
      add_token("o", "\n", line)
      line++; skip = 0
      for (pos = 1; pos <= n_doc; pos++) { # the lines of here-documents are no commands
        do {
          rest = substr(text, i + 1)
          end = index(rest, "\n")
          body = end == 0 ? rest : substr(rest, 1, end - 1)
          i += end == 0 ? length(rest) : end
          line++
          sub(/^\t+/, "", body)
        } while (body != docs[pos] && end != 0)
      }
      n_doc = 0
      continue
    }
    if ((c == "&" || c == "|" || c == ";") && d == c) { add_token("o", c c, line); i++; continue }
    add_token("o", c, line)
  }
  add_token("e", "", line)
}
