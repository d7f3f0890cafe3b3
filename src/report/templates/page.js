(async () => {
  // What the markup leaves out: gzip in base64. A browser that cannot unpack it shows the markup.
  const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (one) => one.charCodeAt(0));
  const data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();

  /** An element. What is inside is text or other elements, and never markup. */
  const el = (name, attributes, ...inside) => {
    const one = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) if (value) one.setAttribute(key, value);
    one.append(...inside.flat(Infinity).filter((part) => part || part === 0));
    return one;
  };
  const link = (id, text) => el("a", { href: `#${id}` }, text ?? id);
  const row = (name, colour, said, ...what) =>
    el("tr", { class: colour === "x" && "x" }, el("th", {}, name), el("td", { class: colour !== "x" && colour }, said), el("td", {}, ...what));

  const outcome = (o) => [
    ...(o.values.length ? o.values : [["", o.word]]).map(([name, text], at) => row(name, o.class, !at && o.columns, text)),
    o.why && row("", o.class, o.word, o.why),
    ...o.differences.map(([name, expected, observed]) =>
      row(name, "f", o.word, `expected ${expected}`, el("br"), `observed ${observed}`)),
  ];
  const drawCase = (c) =>
    el("details", { class: "c", "data-t": c.tags }, el("summary", {}, c.id),
      el("div", { id: c.id },
        c.note && el("p", {}, c.note),
        el("pre", {}, c.program),
        c.drawing.length && el("pre", { class: "a" }, c.drawing.map(([why, line]) => [why ? el("b", {}, line) : line, "\n"])),
        el("table", { class: "o" },
          c.expected.map(([name, text]) => row(name, c.plain && "p", c.plain ? "as expected" : "expected", text)),
          c.otherwise.map(([releases, expected]) => expected.map(([name, text]) => row(name, "", `in ${releases}`, text))),
          c.documented.map(([name, text]) => row(name, "x", "documented", text)),
          c.plain ? [] : c.outcomes.map(outcome)),
        c.why && el("p", { class: "why" }, c.why),
        el("p", { class: "m" }, el("code", {}, c.command.replace("CASE", c.id)), " ", c.control && link(c.control, "accepted twin"))));

  const tags = new Map(), sections = new Map(), home = new Map(), drawn = new Map();
  for (const section of document.querySelectorAll("#cases > .s")) {
    const id = section.querySelector("div").id;
    sections.set(id, section);
    for (const one of data.statements[id].cases) home.set(one.id, id);
    section.addEventListener("toggle", () => draw(id));
  }

  /** Draws what belongs to a statement, the first time that it is looked at. */
  const draw = (id) => {
    if (drawn.has(id)) return drawn.get(id);
    const own = data.statements[id];
    const cases = new Map(own.cases.map((one) => [one.id, drawCase(one)]));
    const place = el("p", { class: "m" }, el("code", {}, id), own.sources.map((source) => el("cite", {}, source)));
    const notes = own.footnotes.map((note) =>
      el("p", { class: "m" }, note.what[0].toUpperCase() + note.what.slice(1), ", as in ", link(note.case)));
    const others = own.elsewhere.length && el("p", { class: "m" }, "Also", own.elsewhere.map((one) => [" ", link(one)]));
    document.getElementById(id).append(...[place, notes, [...cases.values()], others].flat().filter(Boolean));
    drawn.set(id, cases);
    hide(id);
    return cases;
  };

  const grid = document.getElementById("grid");
  const rows = [];
  grid.append(el("table", { class: "grid" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "statement"),
      data.columns.map(([short, long]) => el("th", { scope: "col", title: long }, el("span", {}, short))))),
    data.themes.map((theme) => {
      const own = theme.rows.map(({ id, colours, signs }) => {
        tags.set(id, [...new Set(colours)]);
        const marks = [...signs];
        return el("tr", { "data-w": sections.get(id).dataset.w }, el("th", { scope: "row" }, link(id)),
          [...colours].map((colour, at) => el("td", { class: colour }, marks[at])));
      });
      const head = el("tr", { class: "h" }, el("th", { scope: "rowgroup", colspan: data.columns.length + 1 }, theme.name));
      const body = el("tbody", {}, head, own);
      rows.push([body, own.map((one, at) => [one, theme.rows[at].id])]);
      return body;
    })));
  grid.hidden = false;
  for (const one of document.querySelectorAll(".without")) one.remove();

  document.getElementById("differences")?.append(...data.libraries.filter((list) => list.known.length).map((list) =>
    el("details", {}, el("summary", {}, `${list.label}: ${list.known.length} difference${list.known.length > 1 ? "s" : ""}`),
      el("dl", {}, list.known.map((one) => [
        el("dt", {}, one.id, " ", el("small", {}, `${one.kind}, ${one.cases} case${one.cases > 1 ? "s" : ""}`)),
        el("dd", {}, one.why, el("br"), link(one.case), ": PyTorch ", el("code", {}, one.expected), ", here ", el("code", {}, one.observed)),
      ])))));

  // What a link leads to is drawn and opened, and all that it is inside of.
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (home.has(id)) draw(home.get(id));
    const target = document.getElementById(id);
    if (!target) return;
    for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);

  const form = document.getElementById("filter");
  const told = form.querySelector("output");
  const texts = new Map();
  for (const [id, section] of sections) {
    const own = data.statements[id].cases.map((one) => [one.id, one.tags, JSON.stringify(one).toLowerCase()]);
    texts.set(id, [`${section.firstElementChild.textContent} ${id}`.toLowerCase(), own]);
  }
  const hidden = new Set();
  const hide = (id) => drawn.get(id)?.forEach((one, name) => one.classList.toggle("off", hidden.has(name)));
  const is = (show, word, own) => !show || (show === "x" ? word !== "true" : own.includes(show));
  const filter = () => {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const show = form.show.value;
    const has = (text) => words.every((word) => text.includes(word));
    let shown = 0;
    const visible = new Set();
    hidden.clear();
    for (const [id, [text, own]] of texts) {
      const word = sections.get(id).dataset.w;
      const named = has(text);
      let some = !own.length && is(show, word, tags.get(id) ?? []) && named;
      for (const [name, of, whole] of own) {
        const on = is(show, word, of.split(" ")) && (named || has(whole));
        if (!on) hidden.add(name);
        some ||= on;
        shown += on;
      }
      sections.get(id).classList.toggle("off", !some);
      if (some) visible.add(id);
      hide(id);
    }
    for (const [body, list] of rows) {
      for (const [one, id] of list) one.classList.toggle("off", !visible.has(id));
      body.classList.toggle("off", !list.some(([, id]) => visible.has(id)));
    }
    told.textContent = `${visible.size} statements, ${shown} cases`;
    const query = new URLSearchParams(words.length || show ? { q: form.q.value, show } : {});
    history.replaceState(null, "", `${query.size ? `?${query}` : location.pathname}${location.hash}`);
  };
  const query = new URLSearchParams(location.search);
  form.q.value = query.get("q") || "";
  form.show.value = query.get("show") || "";
  form.hidden = false;
  let waiting;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
  open();
})();
