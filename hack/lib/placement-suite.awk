# Part of hack/check-placement: reads the scripts of Chainsaw YAML, or a file of shell, and runs placement-shell.awk
# over them. Variable: yaml, 1 for YAML; FILE of the environment is the name to be said. Ends with 1 where something
# was said.

function indent_of(text) { match(text, /^ */); return RLENGTH }

function pop_to(column, key) { # entries that a key, or an item, at this column ends
  while (depth > 0 && (at_column[depth] > column || at_column[depth] == column && (key || is_item[depth]))) depth--
}

function push(column, item, text) { depth++; at_column[depth] = column; is_item[depth] = item; name_of[depth] = text }

function path(    i, out) { for (i = 1; i <= depth; i++) out = out "/" name_of[i]; return out }

# A text of a script, by the path of its key.
function add_text(where, text, line,    i, n, parts, prefix, section) {
  n = split(where, parts, "/")
  for (i = 2; i <= n; i++) {
    if (parts[i] ~ /^(try|catch|finally|cleanup)$/) { section = parts[i]; break }
    prefix = prefix "/" parts[i]
  }
  if (section == "") return
  n_text++
  text_of[n_text] = text; text_line[n_text] = line; text_step[n_text] = prefix; text_section[n_text] = section
  for (i = 0; i <= count_lines(text); i++) understood[line + i] = 1
  if (!(prefix in is_step)) { is_step[prefix] = 1; step[++n_step] = prefix }
}

function unquote(value) {
  if (value ~ /^".*"$/) {
    value = substr(value, 2, length(value) - 2)
    gsub(/\\n/, "\n", value); gsub(/\\"/, "\"", value); gsub(/\\\\/, "\\", value)
  } else if (value ~ /^'.*'$/) {
    value = substr(value, 2, length(value) - 2)
    gsub(/''/, "'", value)
  }
  return value
}

function end_block() {
  if (!in_block) return
  if (folded) gsub(/\n/, " ", block)
  add_text(block_path, block, block_line)
  in_block = 0
}

# A command operation, as a line of shell.
function end_command(    i) {
  if (command_text != "") add_text(command_path, command_text, command_line)
  command_text = ""; command_path = ""
}

function take_value(column, key, value,    where) {
  where = path()
  sub(/[ \t]+#.*$/, "", value)
  if (key == "content" && where ~ /\/script\/content$/) {
    if (value ~ /^[|>][-+0-9]*$/) {
      in_block = 1; folded = substr(value, 1, 1) == ">"; block = ""; block_line = NR + 1; block_path = where
      block_column = column; block_indent = -1
    } else if (value != "") {
      add_text(where, unquote(value), NR)
    }
  } else if (where ~ /\/command\/entrypoint$/) {
    end_command()
    command_path = where; command_text = unquote(value); command_line = NR
  } else if (where ~ /\/command\/args$/ && value ~ /^\[/) {
    gsub(/[][,]/, " ", value); gsub(/["']/, "", value)
    command_text = command_text " " value; understood[NR] = 1
  }
}

function yaml_line(text,    column, rest, key, value) {
  if (in_block) {
    if (text ~ /^[ \t]*$/) { block = block "\n"; return }
    column = indent_of(text)
    if (block_indent < 0) { block_indent = column; }
    if (column > block_column && column >= block_indent) {
      block = block substr(text, block_indent + 1) "\n"
      return
    }
    end_block()
  }
  if (text ~ /^[ \t]*(#.*)?$/) { understood[NR] = 1; return }
  if (text ~ /^---/) { document(); return }
  column = indent_of(text)
  rest = substr(text, column + 1)
  while (rest ~ /^-( |$)/) {
    pop_to(column, 0)
    push(column, 1, "-" (++items))
    sub(/^- */, "", rest)
    column = length(text) - length(rest)
  }
  if (match(rest, /^[A-Za-z_][A-Za-z0-9_.-]*:( |$)/)) {
    key = substr(rest, 1, index(rest, ":") - 1)
    value = substr(rest, RLENGTH + 1)
    sub(/^ +/, "", value)
    pop_to(column, 1)
    push(column, 0, key)
    if (key ~ /^(try|catch|finally|cleanup|steps|spec)$/) end_command()
    take_value(column, key, value)
  } else if (rest != "" && path() ~ /\/command\/args\/-[0-9]+$/) {
    command_text = command_text " " unquote(rest); understood[NR] = 1
  }
}

# The operations of a section, one behind the other.
function section_state(prefix, section, state,    i) {
  for (i = 1; i <= n_text; i++)
    if (text_step[i] == prefix && text_section[i] == section) state = run_text(text_of[i], text_line[i], state, 0)
  return state
}

function test_level(prefix,    out) { out = prefix; sub(/\/steps.*$/, "", out); return out }

# What stands at the end of a path where a step's try fails or is cut with these brackets open.
function failing(prefix, state) {
  state = section_state(prefix, "catch", state)
  if (test_level(prefix) != prefix) state = section_state(test_level(prefix), "catch", state)
  state = section_state(prefix, "finally", state)
  return section_state(prefix, "cleanup", state)
}

# One test: its steps in their order, then what each of them can fail with.
function document(    i, j, state, prefix, open) {
  end_block(); end_command()
  delete opens; delete closes
  for (i = 1; i <= n_step; i++) {
    prefix = step[i]
    open = state
    for (j = 1; j <= n_text; j++) {
      if (text_step[j] != prefix || text_section[j] != "try") continue
      state = run_text(text_of[j], text_line[j], state, 0)
      open = join_states(open, state)
      open = join_states(open, brackets_of(text_of[j], text_line[j]))
    }
    problem(failing(prefix, open), "on the failing path: neither catch nor finally takes it")
    state = section_state(prefix, "finally", state)
  }
  for (i = n_step; i >= 1; i--) state = section_state(step[i], "cleanup", state)
  problem(state, "on the passing path")
  n_text = 0; n_step = 0; depth = 0
  delete is_step
}

# Every bracket that a text opens anywhere: Chainsaw can cut it there.
function brackets_of(text, line,    i, j, out) {
  tokenize(text, line)
  for (i = 1; i <= n_tok; i++) {
    if (tok_type[i] != "w" || i > 1 && tok_type[i - 1] == "w" && tok[i - 1] !~ /^([!{]|then|do|else|if|while|until|[A-Za-z_][A-Za-z0-9_]*=.*)$/)
      continue
    for (j = i; tok_type[j + 1] == "w"; j++);
    if (effect(i, j) == 1) out = opened(out, e_kind, tok_line[i])
  }
  return out
}

BEGIN { file = ENVIRON["FILE"]; k_dead = "dead"; n_said = 0; depth = 0; n_text = 0; n_step = 0 }

{ sub(/\r$/, "") }

yaml {
  if (/cozybracket_before|cozy_capture_[a-z_]+ 1|cozybracket.*sample.*1/ && $0 !~ /^ *#/) hook_line[NR] = 1
  yaml_line($0)
  next
}

{ whole = whole $0 "\n" }

END {
  if (yaml) {
    document()
    for (i = 1; i <= NR; i++) if (i in hook_line && !(i in understood)) say(i, "a sample 1 that stands in no script this can read")
  } else {
    problem(run_text(whole, 1, "", 1), "on the passing path")
  }
  for (i = 1; i <= n_said; i++) print said[i]
  exit n_said > 0
}
