# Part of hack/check-placement: reads shell, and says where a sample 1 has no sample 2 on a path. Standard awk.
#
# A state is the set of brackets that may be open at a place: " KIND@LINE" for each; k_dead where no path leads. KIND is
# "all", the capture of a drop-in function, or what --snapshot names. " trap@0" is a trap of EXIT that closes all.

function say(line, words) { said[++n_said] = sprintf("%s:%d: %s", file, line, words) }

# --- sets ------------------------------------------------------------------------

function union(a, b,    parts, n, i) {
  n = split(b, parts, " ")
  for (i = 1; i <= n; i++) if (index(a " ", " " parts[i] " ") == 0) a = a " " parts[i]
  return a
}

# Where two paths meet: a bracket may be open that is open on one of them, and a trap is set that is set on both.
function join_states(a, b) {
  if (a == k_dead) return b
  if (b == k_dead) return a
  if (!index(a, " trap@0") != !index(b, " trap@0")) { sub(/ trap@0/, "", a); sub(/ trap@0/, "", b) }
  return union(a, b)
}

function opened(state, kind, line) { return state == k_dead ? state : union(state, " " kind "@" line) }

function closed(state, kind,    parts, n, i, left) {
  if (state == k_dead || kind == "") return state
  n = split(state, parts, " ")
  for (i = 1; i <= n; i++)
    if (parts[i] == "trap@0" || (kind != "all" && index(parts[i], kind "@") != 1)) left = left " " parts[i]
  return left
}

function is_open(state) { return state != k_dead && state != "" && index(state, " trap@0") == 0 }

# --- what a command does ------------------------------------------------------------------

# Sets e_sample and e_kind to what a command is of a bracket; e_sample is 0 where it is nothing of it.
function effect(first, last,    i, j, word) {
  e_sample = 0; e_kind = "all"
  word = tok[first]
  if (word == "cozybracket_before") e_sample = 1
  else if (word == "cozybracket_after") e_sample = 2
  else if (word ~ /^cozy_capture_(runner_kernel_cpu_time|sandbox_kvm_exits|sandbox_qemu_thread_cpu|runner_canary)$/) {
    e_sample = first < last && tok[first + 1] ~ /^[12]$/ ? tok[first + 1] : 0
    e_kind = substr(word, 14)
  }
  for (i = first; i <= last; i++) {
    if (tolower(tok[i]) ~ /cozybracket}?$/ && tok[i + 1] == "sample" && i < last) {
      for (j = i + 2; j <= last; j++) if (tok[j] ~ /^[12]$/ && tok[j - 1] !~ /^--/) { e_sample = tok[j]; break }
    }
  }
  if (e_sample && e_kind == "all")
    for (i = first; i <= last; i++) {
      if (tok[i] == "--snapshot" && i < last) e_kind = "snapshot=" tok[i + 1]
      else if (tok[i] ~ /^--snapshot=/) e_kind = "snapshot=" substr(tok[i], 12)
      gsub(/[ @]/, "_", e_kind)
    }
  return e_sample
}

# What never fails, or fails nobody: the rest ends a shell under set -e.
function cannot_fail(word) {
  return word ~ /^(:|true|echo|printf|export|local|readonly|set|unset|trap|shift|break|continue|\.|source|umask|cozybracket_(before|after|report))$/
}

function take_effect(state, sample, kind, line) {
  if (sample == 1) return opened(state, kind, line)
  if (sample == 2) return closed(state, kind)
  return state
}

function leave(state, line, why, fails) {
  if (in_subshell) { sub_state = join_states(sub_state, state); return }
  if (state == k_dead) return
  n_exit++; exit_state[n_exit] = state; exit_line[n_exit] = line; exit_why[n_exit] = why; exit_fails[n_exit] = fails
}

# One command of words, from p on.
function simple(state,    first, last, word, line, sample, kind) {
  first = p
  if (tok[p] == "[[") while (!at_end() && !(tok_type[p] == "w" && tok[p] == "]]")) p++
  while (tok_type[p] == "w") p++
  last = p - 1
  while (first <= last && tok[first] ~ /^[A-Za-z_][A-Za-z0-9_]*=/) {
    if (tok[first] ~ /\$\(|`/ && first == last && errexit && is_open(state)) may_fail(state, tok_line[first])
    first++
  }
  while (first <= last && tok[first] ~ /^(command|builtin|!)$/) first++
  if (first > last) return state
  word = tok[first]; line = tok_line[first]
  if (word == "set") {
    for (; first < last; first++) {
      if (tok[first + 1] ~ /^-[a-z]*e/ || tok[first + 1] == "errexit" && tok[first] == "-o") errexit = 1
      if (tok[first + 1] ~ /^\+[a-z]*e/ || tok[first + 1] == "errexit" && tok[first] == "+o") errexit = 0
    }
    return state
  }
  if (word == "trap" && last - first >= 2 && tok[first + 1] ~ /cozybracket_after|sample 2/ && tok[first + 2] ~ /^(EXIT|0)$/)
    return state == k_dead ? state : state " trap@0"
  if (word == "exit" || word == "return" || word == "exec" && first < last) {
    leave(state, line, word, first < last && tok[first + 1] ~ /^0*[1-9][0-9]*$/)
    return k_dead
  }
  if ((word == "break" || word == "continue") && loops) { loop_state[loops] = join_states(loop_state[loops], state); return k_dead }
  sample = effect(first, last); kind = e_kind
  if (sample == 1) seen_line[line] = word ~ /^cozy(bracket_before|_capture_.*)$/ ? word : "sample 1"
  state = take_effect(state, sample, kind, line)
  if (word in opens && state != k_dead) {
    seen_line[line] = word " (sample 1)"
    return union(state, at_line(opens[word], line))
  }
  if (word in closes) state = close_all(state, closes[word])
  if (errexit && is_open(state) && !cannot_fail(word)) may_fail(state, line)
  return state
}

function at_line(set, line,    parts, n, i, out) {
  n = split(set, parts, " ")
  for (i = 1; i <= n; i++) { sub(/@.*/, "", parts[i]); out = out " " parts[i] "@" line }
  return out
}

function close_all(state, kinds,    parts, n, i) {
  n = split(kinds, parts, " ")
  for (i = 1; i <= n; i++) state = closed(state, parts[i])
  return state
}

function may_fail(state, line) { n_fail++; fail_state[n_fail] = state; fail_line[n_fail] = line }

# --- the grammar of shell ---------------------------------------------------------------------

function at_end() { return p >= n_tok } # behind it, too: a text may end amid a command
function is_word(text) { return tok_type[p] == "w" && tok[p] == text }
function is_op(text) { return tok_type[p] == "o" && tok[p] == text }
function skip_ends() { while (is_op("\n") || is_op(";")) p++ }
function skip_lines() { while (is_op("\n")) p++ }

# Commands up to one of the words or operators in stops (each between blanks).
function list(state, stops,    before) {
  for (;;) {
    while (is_op("\n") || is_op(";") || is_op("&")) p++
    if (at_end() || index(stops, " " tok[p] " ")) return state
    before = p
    state = and_or(state)
    if (p == before) p++ # what this does not understand is passed over
  }
}

function and_or(state,    mark, start, before, next_state, op, sample_before) {
  mark = n_fail; start = p; before = state
  state = pipeline(state)
  while (is_op("&&") || is_op("||")) {
    n_fail = mark # what stands before these ends no shell
    op = tok[p]; p++; skip_lines()
    # Behind "sample 1 ||" there is no sample 1.
    next_state = pipeline(op == "||" && state != k_dead && length(state) > length(before) ? before : state)
    if (op == "||" && state == k_dead) state = next_state
    else state = join_states(state, next_state)
    before = state
  }
  return state
}

function pipeline(state,    mark, not_) {
  mark = n_fail
  while (is_word("!")) { not_ = 1; p++ }
  state = command(state)
  while (is_op("|")) { n_fail = mark; p++; if (is_op("&")) p++; skip_lines(); state = command(state) }
  if (not_) n_fail = mark
  return state
}

function command(state,    name, out) {
  if (is_word("if")) return if_command(state)
  if (is_word("while") || is_word("until") || is_word("for") || is_word("select")) return loop_command(state)
  if (is_word("case")) return case_command(state)
  if (is_word("{")) { p++; state = list(state, " } "); p++; return state }
  if (is_op("(")) return subshell(state)
  if (is_word("function")) { p++; name = tok[p++]; if (is_op("(")) p += 2; skip_lines(); return function_body(state, name) }
  if (tok_type[p] == "w" && tok_type[p + 1] == "o" && tok[p + 1] == "(") {
    name = tok[p]; p += 3; skip_lines(); return function_body(state, name)
  }
  if (tok_type[p] != "w") return state
  return simple(state)
}

function condition(state, stops,    mark) { mark = n_fail; state = list(state, stops); n_fail = mark; return state }

function if_command(state,    out, had_else) {
  out = k_dead
  while (is_word("if") || is_word("elif")) {
    p++
    state = condition(state, " then "); p++
    out = join_states(out, list(state, " elif else fi "))
  }
  if (is_word("else")) { p++; out = join_states(out, list(state, " fi ")); had_else = 1 }
  p++
  return had_else ? out : join_states(out, state)
}

function loop_command(state,    kind, once, body) {
  kind = tok[p]; p++
  if (kind == "for" || kind == "select") {
    once = tok[p + 1] == "in" && tok_type[p + 2] == "w" && kind == "for"
    while (!at_end() && !is_word("do")) p++
  } else {
    state = condition(state, " do ")
  }
  p++
  loops++; loop_state[loops] = k_dead
  body = list(state, " done ")
  body = join_states(body, loop_state[loops])
  loops--; p++
  return once ? body : join_states(state, body)
}

function case_command(state,    out, any) {
  out = k_dead; p++
  while (!at_end() && !is_word("in")) p++
  p++
  for (;;) {
    skip_ends(); while (is_op(";;")) { p++; skip_ends() }
    if (at_end() || is_word("esac")) break
    while (!at_end() && !is_op(")")) { if (is_word("*")) any = 1; p++ }
    p++
    out = join_states(out, case_list(state))
  }
  p++
  return any ? out : join_states(out, state)
}

function case_list(state) { return list(state, " ;; esac ") }

function subshell(state,    outer, outer_state) {
  outer = in_subshell; outer_state = sub_state
  in_subshell = 1; sub_state = k_dead
  p++
  state = list(state, " ) "); p++
  state = join_states(state, sub_state)
  in_subshell = outer; sub_state = outer_state
  return state
}

# What calling the function does to a bracket. One that has both samples is a bracket of its own, and is looked at.
function function_body(state, name,    start, from, exits, fails, out, i, all, left, loops_, sub_) {
  start = p; exits = n_exit; fails = n_fail; loops_ = loops; loops = 0; sub_ = in_subshell; in_subshell = 0
  delete opens[name]; delete closes[name]
  all = " all@0 runner_kernel_cpu_time@0 sandbox_kvm_exits@0 sandbox_qemu_thread_cpu@0 runner_canary@0"
  left = command(all)
  for (i = exits + 1; i <= n_exit; i++) left = join_states(left, exit_state[i])
  closes_[name] = kinds_missing(all, left)
  p = start; n_exit = exits; n_fail = fails
  out = command("")
  if (has_after(start, p)) {
    for (i = exits + 1; i <= n_exit; i++) keep_problem(exit_state[i], exit_line[i], exit_why[i])
    for (i = fails + 1; i <= n_fail; i++) keep_problem(fail_state[i], fail_line[i], "set -e")
    if (is_open(out)) keep_problem(out, tok_line[p - 1], "end")
    if (closes_[name] != "") closes[name] = closes_[name]
  } else {
    for (i = exits + 1; i <= n_exit; i++) if (exit_why[i] == "return") out = join_states(out, exit_state[i])
    if (is_open(out)) opens[name] = out
  }
  n_exit = exits; n_fail = fails; loops = loops_; in_subshell = sub_
  return state
}

function has_after(first, last,    i, j, k) {
  for (i = first; i < last; i++) {
    if (tok_type[i] != "w" || i > first && tok_type[i - 1] == "w") continue
    for (j = i; tok_type[j + 1] == "w"; j++);
    for (k = i; k <= j; k++) if (effect(k, j) == 2 || tok[k] in closes) return 1
  }
  return 0
}

function kinds_missing(all, left,    parts, n, i, out) {
  if (left == k_dead) return ""
  n = split(all, parts, " ")
  for (i = 1; i <= n; i++)
    if (index(left " ", " " parts[i] " ") == 0) { sub(/@.*/, "", parts[i]); out = out " " parts[i] }
  return out
}

# --- what is said --------------------------------------------------------------------------------

function name_at(line) { return line in seen_line ? seen_line[line] : "sample 1" }
function partner(line,    name) {
  name = name_at(line)
  if (name == "cozybracket_before") return "cozybracket_after"
  if (name ~ /^cozy_capture_/) return name " 2"
  return "sample 2"
}

# Once for each line of a before and each path.
function problem(state, way,    parts, n, i, line, at) {
  if (!is_open(state)) return
  n = split(state, parts, " ")
  for (i = 1; i <= n; i++) {
    at = index(parts[i], "@")
    line = substr(parts[i], at + 1) + 0
    if (line == 0 || (line, way) in told) continue
    told[line, way] = 1
    say(line, name_at(line) " has no " partner(line) " " way)
  }
}

function keep_problem(state, line, why) {
  if (why == "set -e") problem(state, "where line " line " fails under set -e")
  else if (why == "end") problem(state, "on the passing path")
  else problem(state, "where line " line " leaves by " why)
}

# Runs a text; what leaves it early joins its end. Returns the state behind it.
function run_text(text, line, state, alone,    i) {
  tokenize(text, line)
  p = 1; n_exit = 0; n_fail = 0; loops = 0; in_subshell = 0; errexit = text ~ /^#![^\n]* -[a-z]*e/
  state = list(state, " ")
  if (alone) {
    for (i = 1; i <= n_exit; i++) keep_problem(exit_state[i], exit_line[i], exit_why[i])
    for (i = 1; i <= n_fail; i++) keep_problem(fail_state[i], fail_line[i], "set -e")
  } else {
    for (i = 1; i <= n_exit; i++) if (!exit_fails[i]) state = join_states(state, exit_state[i])
  }
  sub(/ trap@0/, "", state)
  return state
}
