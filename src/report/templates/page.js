(async () => {
  /** What the markup leaves out: gzip in the base 85 of `src/report/columns.rs`. A browser that cannot unpack it shows the markup. */
  const unpack = async (id) => {
    const text = document.getElementById(id).textContent;
    const digits = {};
    for (let code = 35, value = 0; code < 126; code++) if (![38, 39, 60, 62, 92, 96].includes(code)) digits[code] = value++;
    const bytes = new Uint8Array(text.length - Math.ceil(text.length / 5));
    for (let at = 0, end = 0; at < text.length; at += 5) {
      let word = 0;
      for (let next = at; next < at + 5; next++) word = word * 85 + (digits[text.charCodeAt(next)] ?? 84);
      for (let shift = 24; shift >= 0 && end < bytes.length; shift -= 8) bytes[end++] = word >>> shift;
    }
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  /** The document that `src/report/columns.rs` has taken apart into one column for each path. */
  const joined = ({ columns, places }) => {
    const next = {};
    const read = (path) => {
      next[path] ??= 0;
      const token = columns[path][next[path]++];
      if (path in places && Number.isInteger(token)) return columns[places[path]][token];
      if (!Array.isArray(token)) return Number.isInteger(token?.at) ? columns[path][token.at] : token;
      if (typeof token[0] === "number") return Array.from({ length: token[0] }, () => read(`${path}[]`));
      return Object.fromEntries(token.map((key) => [key, read(`${path}.${key}`)]));
    };
    return read("");
  };
  // The index is small, and enough for the first answer. Everything else comes after it, and is `null` until then.
  const index = await unpack("index");
  let data = null;

  /** An element. What is inside is text or other elements, and never markup. */
  const el = (name, attributes, ...inside) => {
    const one = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) if (value) one.setAttribute(key, value);
    one.append(...inside.flat(Infinity).filter((part) => part || part === 0));
    return one;
  };
  const byId = (id) => document.getElementById(id);
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const link = (id, text) => el("a", { href: `#${id}` }, text ?? id);
  const button = (text, click, attributes) => {
    const one = el("button", { type: "button", ...attributes }, text);
    one.addEventListener("click", () => click(one));
    return one;
  };

  // Cases.

  const row = (name, colour, said, ...what) =>
    el("tr", { class: colour === "x" && "x" }, el("th", { scope: "row" }, name), el("td", { class: colour !== "x" && colour }, said), el("td", {}, ...what));
  const outcome = (o) => [
    ...(o.values ? o.values : [["", o.word]]).map(([name, text], at) => row(name, o.class, !at && o.columns, text)),
    o.why && row("", o.class, o.word, o.why),
    ...(o.differences ?? []).map(([name, expected, observed]) =>
      row(name, "f", o.word, `expected ${expected}`, el("br"), `observed ${observed}`)),
  ];
  // The colour of a case in words, the gravest first.
  const WORST = [["f", "failed"], ["d", "known to differ"], ["r", "release-specific"], ["u", "not supported somewhere"]];
  const worst = (tags) => WORST.find(([tag]) => tags.split(" ").includes(tag))?.[1] ?? "as expected";
  const drawCase = (c, tags) =>
    el("details", { class: "c", "data-t": tags }, el("summary", {}, c.id, " ", el("small", {}, worst(tags))),
      el("div", { id: c.id },
        c.note && el("p", {}, c.note),
        el("pre", {}, c.program),
        c.drawing && el("pre", { class: "a" }, c.drawing.map(([why, line]) => [why ? el("b", {}, line) : line, "\n"])),
        el("table", { class: "o" },
          c.expected.map(([name, text]) => row(name, c.plain && "p", c.plain ? "as expected" : "expected", text)),
          (c.otherwise ?? []).map(([releases, expected]) => expected.map(([name, text]) => row(name, "", `in ${releases}`, text))),
          (c.documented ?? []).map(([name, text]) => row(name, "x", "documented", text)),
          c.plain ? [] : c.outcomes.map(outcome)),
        c.why && el("p", { class: "why" }, c.why),
        el("p", { class: "m" }, el("code", {}, c.command.replace("CASE", c.id)), " ", c.control && link(c.control, "accepted twin"))));

  // Statements: the element of each, its cases, and the place that a search takes it from.
  const statements = new Map(), home = new Map(), drawn = new Map();
  for (const node of document.querySelectorAll("#cases .s")) {
    const id = node.lastElementChild.id;
    const cases = index.cases[id].map(([tags], at) => ({ at, tags }));
    node.firstElementChild.append(" ", el("small", {}, count(cases.length, "case")));
    statements.set(id, { id, node, cases, place: statements.size, word: node.dataset.w ?? "true", parent: node.parentNode, next: node.nextElementSibling });
    node.addEventListener("toggle", () => node.open && draw(id));
  }

  /** Draws what belongs to a statement, the first time that it is looked at. */
  const draw = (id) => {
    if (drawn.has(id) || !data) return;
    const own = data.statements[id];
    const cases = own.cases.map((one, at) => drawCase(one, statements.get(id).cases[at].tags));
    const place = el("p", { class: "m" }, el("code", {}, id), own.sources.map((source) => el("cite", {}, source)));
    const notes = own.footnotes.map((note) =>
      el("p", { class: "m" }, note.what[0].toUpperCase() + note.what.slice(1), ", as in ", link(note.case)));
    const others = own.elsewhere.length && el("p", { class: "m" }, "Also", own.elsewhere.map((one) => [" ", link(one)]));
    const rest = button("", () => { wanted.delete(id); hide(id); });
    byId(id).append(...[place, notes, cases, rest, others].flat().filter(Boolean));
    drawn.set(id, { cases, rest });
    hide(id);
  };

  // The cases of a statement that a search has found, where it has not found all.
  const wanted = new Map();
  const hide = (id) => {
    if (!drawn.has(id)) return;
    const { cases, rest } = drawn.get(id);
    const only = wanted.get(id);
    let hidden = 0;
    for (const [at, one] of cases.entries()) {
      const off = only !== undefined && !only.has(at);
      one.classList.toggle("off", off);
      hidden += off;
    }
    rest.classList.toggle("off", !hidden);
    rest.textContent = `Show ${count(hidden, "other case")}`;
  };

  // The search.

  const form = byId("search"), found = byId("found"), told = form.querySelector("output");

  /** The name of an operation without its form: `add_`, `add out=` and `torch.add(` are forms of `add`. */
  const base = (name) => name.replace(/ out=$/, "").replace(/(?<=[a-z0-9])_$/, "");
  const OPERATORS = { "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder", "**": "pow", "@": "matmul", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "&": "bitwise_and", "|": "bitwise_or", "<<": "bitwise_left_shift", ">>": "bitwise_right_shift" };
  // Name or form, statement, cases that call it.
  const operations = new Map();
  const forms = index.names.map((name) => [...new Set([name, base(name), base(name).split(".")[0]])].map((form) => {
    if (!operations.has(form)) operations.set(form, new Map());
    return operations.get(form);
  }));
  for (const [id, cases] of Object.entries(index.cases)) {
    for (const [at, [, calls]] of cases.entries()) {
      for (const call of calls) {
        for (const of of forms[call]) {
          if (of.has(id)) of.get(id).add(at);
          else of.set(id, new Set([at]));
        }
      }
    }
  }
  const NAMES = [...new Set(index.names.map(base))].sort();

  /** The name that a word means: `torch.add(x, y)` and `+` mean `add`, `x.add_` means `add_`. */
  const named = (word) => {
    const bare = word.replace(/\(.*$/, "").replace(/^((torch|tensor|nn|functional|f|np|numpy)?\.)+(?=.)/, "");
    const name = OPERATORS[word] ?? bare.replace(/^(linalg|special)\./, "$1_").replace(/^__(.+)__$/, "$1");
    const last = name.split(".").pop();
    return !operations.has(base(name)) && operations.has(base(last)) ? last : name;
  };

  // Texts are made at the first search for words: what a case says, without what the page calls its parts.
  const said = (c) => [c.id, c.program, c.note, c.why, c.expected, c.documented, c.otherwise, c.outcomes.map((o) => [o.values, o.why, o.differences])].join("\n");
  const texts = new Map();
  const textOf = (one) => {
    if (!texts.has(one.id)) texts.set(one.id, `${one.node.textContent} ${one.id}`.toLowerCase());
    return texts.get(one.id);
  };
  const within = new Map();
  const textsOf = (one) => {
    if (!data) return [];
    if (!within.has(one.id)) within.set(one.id, data.statements[one.id].cases.map((c) => said(c).toLowerCase()));
    return within.get(one.id);
  };
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  /** How well a statement fits a word: 3 if a case calls the operation, 2 if a word begins so, 1 if it has the letters. */
  const fit = (one, token) => {
    const calls = operations.get(token.exact)?.get(one.id) ?? operations.get(token.base)?.get(one.id);
    const own = textOf(one);
    const says = token.starts.test(own);
    if (calls) {
      const share = calls.size / (one.cases.length || 1);
      const exact = operations.get(token.exact)?.has(one.id) ? 2 : 0;
      return { rank: 3, order: exact + (says ? 1 : 0) + share, cases: calls };
    }
    if (says) return { rank: 2, order: 0, cases: null };
    // A letter is in everything.
    if (token.word.length < 2) return null;
    if (own.includes(token.word)) return { rank: 1, order: 0, cases: null };
    const cases = new Set();
    for (const [at, text] of textsOf(one).entries()) if (text.includes(token.word)) cases.add(at);
    return cases.size ? { rank: 1, order: 0, cases } : null;
  };
  const shows = (show, one, tags) => !show || (show === "x" ? one.word !== "true" : tags.split(" ").includes(show));

  const GROUPS = { 3: "Their cases call it", 2: "These words are in the statement", 1: "The letters are in the statement or in a case" };
  const FIRST = 20;
  let moved = [];

  const search = () => {
    const query = form.q.value.trim().toLowerCase();
    const show = form.show.value;
    // Back to their places, the last first, so that each finds the one that follows it.
    for (const one of moved.sort((a, b) => b.place - a.place)) one.parent.insertBefore(one.node, one.next);
    moved = [];
    const before = [...wanted.keys()];
    wanted.clear();
    before.forEach(hide);
    found.replaceChildren();
    const searching = Boolean(query || show);
    document.body.classList.toggle("searching", searching);
    byId("results").hidden = !searching;
    keep(query || show ? { q: form.q.value.trim(), show } : {});
    if (!searching) {
      told.textContent = "";
      return;
    }
    const tokens = query.split(/\s+/).filter(Boolean).map((word) => {
      const exact = named(word);
      return { word, exact, base: base(exact), starts: new RegExp(`(?<![a-z0-9_])${escaped(word)}`) };
    });
    const groups = { 3: [], 2: [], 1: [] };
    let cases = 0;
    for (const one of statements.values()) {
      const fits = tokens.map((token) => fit(one, token));
      if (fits.includes(null)) continue;
      const only = one.cases.filter((c) => shows(show, one, c.tags) && fits.every((part) => !part.cases || part.cases.has(c.at)));
      if (!only.length && (one.cases.length || !shows(show, one, ""))) continue;
      if (only.length < one.cases.length) wanted.set(one.id, new Set(only.map((c) => c.at)));
      cases += only.length;
      const ranks = fits.map((part) => part.rank);
      const rank = !ranks.length ? 2 : ranks.includes(3) ? 3 : Math.min(...ranks);
      groups[rank].push({ ...one, order: fits.reduce((sum, part) => sum + part.order, 0), hits: only.length });
    }
    for (const id of wanted.keys()) hide(id);
    groups[3].sort((a, b) => b.order - a.order);
    const known = tokens.filter((token) => operations.has(token.base));
    const all = groups[3].length + groups[2].length + groups[1].length;
    const lead = known.length === 1 && tokens.length === 1 ? `${known[0].base} is an operation: ${count(groups[3].length, "statement")}, ${count(groups[3].reduce((sum, one) => sum + one.hits, 0), "case")}. ` : "";
    told.textContent = lead ? `${lead}${count(all - groups[3].length, "other statement")} with the text.` : `${count(all, "statement")}, ${count(cases, "case")}`;

    const similar = tokens.length === 1 ? alike(tokens[0]) : [];
    if (similar.length) {
      found.append(el("p", { class: "m" }, lead ? "Other operations: " : "Operations: ", similar.map((name) => [button(name, () => ask(name)), " "])));
    }
    const libraries = (data?.libraries ?? []).filter((list) => list.known.length && tokens.some((token) => token.word.length > 2 && list.name.startsWith(token.word)));
    if (libraries.length) {
      found.append(el("p", {}, "Libraries: ", libraries.map((list) => [link(LIBRARY + list.name, `what ${list.name} does otherwise`), " "])));
    }
    for (const rank of [3, 2, 1]) {
      if (!groups[rank].length) continue;
      const title = rank === 3 ? `Statements whose cases call ${known.map((token) => token.base).join(" and ")}` : tokens.length ? GROUPS[rank] : "Statements";
      const list = el("div", { class: "list" });
      found.append(el("h3", {}, `${title} `, el("small", {}, count(groups[rank].length, "statement"))), list);
      const more = (from, to) => {
        for (const one of groups[rank].slice(from, to)) {
          list.append(one.node);
          moved.push(one);
        }
        const left = groups[rank].length - to;
        if (left > 0) list.after(button(`Show ${left} more`, (pressed) => {
          pressed.remove();
          more(to, groups[rank].length);
          groups[rank][to].node.firstElementChild.focus();
        }));
      };
      more(0, FIRST);
    }
    if (!all) found.append(el("p", {}, "Nothing is found. A search for fewer words, or for the name of one operation, finds more."));
  };

  /** Other operations that are meant, perhaps: the name begins so, or has it in it, or is the beginning of it. */
  const alike = ({ base: word }) => {
    if (!word) return [];
    const begins = NAMES.filter((name) => name !== word && name.startsWith(word));
    const within = word.length > 1 ? NAMES.filter((name) => !name.startsWith(word) && name.includes(word)) : [];
    const shorter = operations.has(word) ? [] : NAMES.filter((name) => name.length > 2 && word.startsWith(name));
    return [...shorter, ...begins, ...within].slice(0, 12);
  };

  /** The address keeps the search. */
  const keep = (parts) => {
    const query = new URLSearchParams(Object.entries(parts).filter(([, value]) => value)).toString();
    history.replaceState(null, "", `${query ? `?${query}` : location.pathname}${location.hash}`);
  };
  const ask = (text) => {
    form.q.value = text;
    search();
    form.q.focus();
  };
  const clear = () => {
    form.q.value = form.show.value = "";
    search();
  };

  let waiting;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 30);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    search();
    found.querySelector("summary")?.focus();
  });
  for (const one of byId("hint").querySelectorAll("button")) one.addEventListener("click", () => ask(one.textContent));
  addEventListener("keydown", (event) => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      form.q.focus();
      form.q.select();
    } else if (event.key === "Escape" && document.body.classList.contains("searching")) {
      event.preventDefault();
      clearTimeout(waiting);
      clear();
      form.q.focus();
    }
  });

  // What is drawn where it is looked at.

  const later = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      later.unobserve(target);
      drawLater(target.id);
    }
  }, { rootMargin: "600px" });
  const heads = (names) => names.map(([short, long]) => el("th", { scope: "col", title: long }, el("span", {}, short)));

  const LETTERS = { d: "k", r: "r", f: "f" };
  const cell = (colour, sign) => el("td", { class: colour }, sign, LETTERS[colour] && el("sub", {}, LETTERS[colour]));
  const drawGrid = () => {
    const bodies = data.themes.map((theme) => {
      const own = theme.rows.map((one) => ({ id: one.id, colours: [...one.colours], signs: [...one.signs] }));
      const summed = data.columns.map((_, at) => {
        const colours = own.map((one) => one.colours[at]);
        const odd = colours.filter((colour) => "fdr".includes(colour)).length;
        const colour = [..."fdr"].find((letter) => colours.includes(letter));
        if (colour) return cell(colour, String(odd));
        return colours.every((one) => one === "n") ? cell("n", "?") : colours.every((one) => one === "u") ? cell("u", "·") : cell("p", "✓");
      });
      const head = el("th", { scope: "rowgroup" });
      const body = el("tbody", {}, el("tr", { class: "h" }, head, summed));
      let rows;
      head.append(button([theme.name || "without cases", " ", el("small", {}, String(own.length))], (pressed) => {
        const open = pressed.getAttribute("aria-expanded") !== "true";
        pressed.setAttribute("aria-expanded", open);
        rows ??= own.map((one) => el("tr", { "data-w": statements.get(one.id).word }, el("th", { scope: "row" }, link(one.id)),
          one.colours.map((colour, at) => cell(colour, one.signs[at]))));
        if (open) body.append(...rows);
        else rows.forEach((one) => one.remove());
      }, { "aria-expanded": "false" }));
      return body;
    });
    byId("grid").lastElementChild.append(el("table", { class: "grid" },
      el("caption", {}, "Statements by the theme of their first case, in each release, the newest first"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "theme"), heads(data.columns))), bodies));
  };
  const drawShares = () => {
    byId("shares").lastElementChild.append(el("table", { class: "grid" },
      el("caption", {}, "Passed cases of those that were executed, by theme, rounded down"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "theme"), heads(data.others.map((name) => [name, name])))),
      el("tbody", {}, data.shares.map((theme) => el("tr", { class: "h" }, el("th", { scope: "row" }, theme.name, " ", el("small", {}, String(theme.cases))),
        theme.cells.map((share) => share.step === null
          ? el("td", { class: "u", title: "no case was executed" }, "·")
          : el("td", { class: `t${share.step}`, title: `${share.passed} of ${share.executed}` }, `${parseInt(share.percent)} %`)))))));
  };
  const LIBRARY = "library-";
  const drawDifferences = () => byId("differences").append(...data.libraries.filter((list) => list.known.length).map((list) => {
    const one = el("details", { id: LIBRARY + list.name }, el("summary", {}, `${list.label}: ${count(list.known.length, "difference")}`));
    one.addEventListener("toggle", () => one.append(el("dl", {}, list.known.map((known) => [
      el("dt", {}, known.id, " ", el("small", {}, `${known.kind}, ${count(known.cases, "case")}`)),
      el("dd", {}, known.why, el("br"), link(known.case), ": PyTorch ", el("code", {}, known.expected), ", here ", el("code", {}, known.observed)),
    ]))), { once: true });
    return one;
  }));
  const DRAW = { grid: drawGrid, shares: drawShares, differences: drawDifferences };
  const drawLater = (id) => {
    DRAW[id]?.();
    delete DRAW[id];
  };

  // What a link leads to is drawn and opened, and all that it is inside of.
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (home.has(id)) draw(home.get(id));
    if (id.startsWith(LIBRARY)) drawLater("differences");
    const target = byId(id);
    if (!target) return;
    // A search hides what it has not found.
    if (!target.closest("#results, #search")) clear();
    if (home.has(id) && target.closest(".off")) {
      wanted.delete(home.get(id));
      hide(home.get(id));
    }
    for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  // The same link once more is no change.
  addEventListener("click", (event) => {
    const to = event.target.closest?.("a[href^='#']");
    if (to && to.getAttribute("href") === location.hash) open();
  });

  const query = new URLSearchParams(location.search);
  form.q.value = query.get("q") || "";
  form.show.value = query.get("show") || "";
  form.hidden = byId("hint").hidden = false;
  if (form.q.value || form.show.value) search();

  // The rest, once the search can be used: whoever types at once is answered first.
  if (!location.hash) await new Promise((resolve) => setTimeout(resolve, 250));
  data = joined(await unpack("packed"));
  data.statements = Object.fromEntries(data.statements.map(({ id, ...own }) => [id, own]));
  for (const [id, own] of Object.entries(data.statements)) {
    for (const one of own.cases) home.set(one.id, id);
    if (statements.get(id).node.open) draw(id);
  }
  for (const one of document.querySelectorAll(".later")) {
    one.hidden = false;
    later.observe(one);
  }
  for (const one of document.querySelectorAll(".without")) one.remove();
  // A library leads to its differences.
  const known = new Map(data.libraries.filter((list) => list.known.length).map((list) => [list.label, list.name]));
  for (const one of document.querySelectorAll("#implementations .sum tbody th")) {
    if (known.has(one.textContent)) one.replaceChildren(link(LIBRARY + known.get(one.textContent), one.textContent));
  }
  if (form.q.value && !found.contains(document.activeElement)) search();
  if (location.hash) open();
})();
