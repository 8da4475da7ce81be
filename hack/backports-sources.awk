# Prints, as deb822 stanzas, one candidate source for SUITE-backports per
# mirror that the given apt source files already use for SUITE itself.
#
#   awk -v suite=bookworm -f hack/backports-sources.awk FILE...
#
# Reads both forms, *.sources (deb822) and *.list (one line each). A stanza's
# other fields (Signed-By, also with a key inline; Trusted; Check-Valid-Until)
# are carried over. Switched-off entries, deb-src, flat repositories and other
# suites (SUITE-security, third parties' own) are passed by. Candidates that
# also list SUITE-updates come first: only the distribution itself has that.

function flush_stanza() {
  if (is_deb && enabled && has_main && uris != "") propose(suites, uris, rest)
  is_deb = 0; enabled = 1; has_main = 0; suites = ""; uris = ""; rest = ""; field = ""
}

function word_in(word, list) { return index(" " list " ", " " word " ") > 0 }

function propose(suite_list, uri_list, options,   stanza, words) {
  if (!word_in(suite, suite_list)) return
  split(uri_list, words, " ")
  if (words[1] in seen) return
  seen[words[1]] = 1
  stanza = "Types: deb\nURIs: " words[1] "\nSuites: " suite "-backports\nComponents: main\n" options
  if (word_in(suite "-updates", suite_list)) first[++n_first] = stanza
  else later[++n_later] = stanza
}

function one_line(line,   options, words, n, i, pair) {
  options = ""
  sub(/^[ \t]*deb[ \t]+/, "", line)
  if (match(line, /^\[[^]]*\]/)) {
    n = split(substr(line, 2, RLENGTH - 2), words, " ")
    line = substr(line, RLENGTH + 1)
    for (i = 1; i <= n; i++) {
      split(words[i], pair, "=")
      if (pair[1] in long_name) options = options long_name[pair[1]] ": " pair[2] "\n"
    }
  }
  sub(/[ \t]#.*/, "", line)
  n = split(line, words, " ")
  if (n < 3) return
  for (i = 3; i <= n; i++) if (words[i] == "main") list_suites[words[1]] = list_suites[words[1]] " " words[2]
  if (!(words[1] in list_options)) { list_order[++n_list] = words[1]; list_options[words[1]] = options }
}

BEGIN {
  enabled = 1
  long_name["signed-by"] = "Signed-By"
  long_name["trusted"] = "Trusted"
  long_name["arch"] = "Architectures"
  long_name["check-valid-until"] = "Check-Valid-Until"
}

FNR == 1 { flush_stanza() }
FILENAME ~ /\.list$/ { if ($1 == "deb") one_line($0); next }
/^#/ { next }
/^[ \t]*$/ { flush_stanza(); next }
/^[ \t]/ { # the continuation of the field above
  if (field == "uris") uris = uris " " $0
  else if (field == "suites") suites = suites " " $0
  else if (field == "components") { if (word_in("main", $0)) has_main = 1 }
  else if (field == "other") rest = rest $0 "\n"
  next
}
{
  colon = index($0, ":")
  key = tolower(substr($0, 1, colon - 1))
  value = substr($0, colon + 1)
  gsub(/[ \t]+/, " ", value)
  field = key
  if (key == "types") is_deb = word_in("deb", value)
  else if (key == "uris") uris = value
  else if (key == "suites") suites = value
  else if (key == "components") has_main = word_in("main", value)
  else if (key == "enabled") enabled = (tolower(value) !~ /^ *(no|false|0|off)/)
  else { field = "other"; rest = rest $0 "\n" }
}

END {
  flush_stanza()
  for (i = 1; i <= n_list; i++) propose(list_suites[list_order[i]], list_order[i], list_options[list_order[i]])
  for (i = 1; i <= n_first; i++) print first[i]
  for (i = 1; i <= n_later; i++) print later[i]
}
