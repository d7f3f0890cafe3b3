// The page of `broadcheck explain`. The answers come from WebAssembly, in a worker; what comes from outside reaches the page as
// text nodes and attributes that are not run, never as HTML.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const FACTS = JSON.parse($("facts").textContent);
  const FIELDS = ["q", "op", "args", "out", "dtype"];
  // The longest time that an answer may take, and the most characters of a question that fit into a link.
  const PATIENCE = 8000;
  const LONGEST_LINK = 8000;
  const DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128"];
  const EXAMPLES = [
    ["x / x.sum(1)", { q: "x / x.sum(1)\nx=32,10" }],
    ["images - mean", { q: "images - mean\nimages=32,3,224,224  mean=3" }],
    ["an error message", { q: "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1" }],
    ["where", { q: "5,3  4,3  1,3", op: "where" }],
    ["matmul", { q: "32,8,128,64  32,8,64,128", op: "matmul" }],
    ["attention with names", { q: "q @ k.transpose(-1, -2)\nq=B,H,T,D  k=B,G,S,D" }],
    ["in place", { q: "1,3,1  3,1,7", op: "add_" }],
    ["a loss that is too large", { q: "F.mse_loss(prediction, target)\nprediction=64,1  target=64" }],
    ["einsum", { q: 'torch.einsum("bhqd,bhkd->bhqk", q, k)\nq=2,8,16,64  k=2,8,32,32' }],
    ["cat", { q: "torch.cat([a, b], dim=1)\na=2,3  b=4,3" }],
  ];

  // Elements: a name, attributes, children. Strings become text nodes.
  const SVG = "http://www.w3.org/2000/svg";
  const grow = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== undefined && child !== false && child !== ""));
    return node;
  };
  const h = (name, attributes = {}, ...children) => grow(document.createElement(name), attributes, children);
  const s = (name, attributes = {}, ...children) => grow(document.createElementNS(SVG, name), attributes, children);

  // Signs that differ in shape as well as in colour.
  const SIGNS = {
    good: "M12 1a11 11 0 1 0 0 22 11 11 0 0 0 0-22Zm-1.6 16.2-4.6-4.6 1.9-1.9 2.7 2.7 6-6 1.9 1.9Z",
    bad: "M7.4 1h9.2L23 7.4v9.2L16.6 23H7.4L1 16.6V7.4Zm.4 4.9L5.9 7.8l4.2 4.2-4.2 4.2 1.9 1.9 4.2-4.2 4.2 4.2 1.9-1.9-4.2-4.2 4.2-4.2-1.9-1.9-4.2 4.2Z",
    look: "M12 1.5 23.5 22H.5Zm-1.3 6.7v7h2.6v-7Zm0 8.8v2.5h2.6V17Z",
  };
  const sign = (kind) => s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: SIGNS[kind], fill: "currentColor", "fill-rule": "evenodd" }));

  // The worker, as text: it has the module's bytes, and answers one request at a time.
  function work() {
    let module;
    onmessage = async ({ data }) => {
      // A request may come while the module is compiled.
      if (data.bytes) {
        module = WebAssembly.instantiate(data.bytes, {});
        return;
      }
      try {
        const { exports } = (await module).instance;
        for (const byte of new TextEncoder().encode(data.request)) exports.question_byte(byte);
        const reply = new Uint8Array(exports.answer_question());
        for (let at = 0; at < reply.length; at++) reply[at] = exports.answer_byte();
        postMessage({ reply: new TextDecoder().decode(reply) });
      } catch (error) {
        postMessage({ trap: String(error) });
      }
    };
  }

  const engine = {
    async load() {
      const packed = Uint8Array.from(atob($("wasm").textContent.trim()), (character) => character.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      this.bytes = await new Response(stream).arrayBuffer();
      this.source = URL.createObjectURL(new Blob([`(${work})()`], { type: "text/javascript" }));
      this.start();
    },
    start() {
      this.worker?.terminate();
      this.worker = new Worker(this.source);
      this.worker.postMessage({ bytes: this.bytes });
    },
    // Replies to a request, or rejects; after a rejection the next request meets a fresh instance.
    ask(request) {
      return new Promise((resolve, reject) => {
        const fail = (why) => {
          clearTimeout(clock);
          this.start();
          reject(new Error(why));
        };
        const clock = setTimeout(() => fail(`no answer after ${PATIENCE / 1000} seconds`), PATIENCE);
        this.worker.onmessage = ({ data }) => {
          if (data.trap !== undefined) return fail(data.trap);
          clearTimeout(clock);
          resolve(JSON.parse(data.reply));
        };
        this.worker.onerror = (event) => fail(event.message || "the worker ended");
        this.worker.postMessage({ request: JSON.stringify(request) });
      });
    },
  };

  // The question, as the fields have it, and as the address has it.
  const asked = () => Object.fromEntries(FIELDS.map((name) => [name, $(name).value]));
  const list = (text) => text.split(/[\s;]+/).filter(Boolean);
  // Commas separate arguments, but not within brackets and quotation marks.
  const settings = (text) => (text.match(/(?:"[^"]*"|'[^']*'|\([^()]*\)|\[[^[\]]*\]|[^,])+/g) ?? []).map((part) => part.trim()).filter(Boolean);
  const request = ({ q, op, args, out, dtype }) => ({
    explain: {
      arguments: [q], op: op.trim() || undefined, out: out.trim() || undefined, dtypes: list(dtype), settings: settings(args),
    },
  });
  const fragment = (question) => {
    const parameters = new URLSearchParams();
    for (const name of FIELDS) if (question[name].trim()) parameters.set(name, question[name]);
    const text = parameters.toString();
    return text && text.length <= LONGEST_LINK ? `#${text}` : "";
  };
  const restore = () => {
    const parameters = new URLSearchParams(location.hash.slice(1));
    if (!FIELDS.some((name) => parameters.has(name))) return false;
    for (const name of FIELDS) $(name).value = parameters.get(name) ?? "";
    return true;
  };

  const copy = async (text, button) => {
    const before = button.textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = h("textarea", { class: "hidden", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = done ? "Copied" : "Not copied";
    $("said").textContent = done ? "Copied" : "The browser does not let this page copy";
    setTimeout(() => {
      button.textContent = before;
      $("said").textContent = "";
    }, 1500);
  };
  const copier = (text, what, label = "Copy") =>
    h("button", { type: "button", "aria-label": `${label} ${what}`, click: (event) => copy(text, event.currentTarget) }, label);

  // The drawing: a column for each dimension, a row for each shape.
  const MARKS = {
    expanded: "1, expanded", missing: "no dimension: counts as 1", reduced: "summed or removed", conflict: "does not fit",
  };
  const CELL = 40;
  const GAP = 8;
  const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const cell = ({ text, mark }, result, x, y, width) => {
    if (mark === "empty") return undefined;
    return s("g", { class: `cell ${mark}${result ? " result" : ""}` },
      s("rect", { x, y, width, height: CELL, rx: 7 }),
      s("text", { class: "size", x: x + width / 2, y: y + CELL / 2 + 1 }, mark === "missing" ? "·" : text),
      mark === "reduced" && s("path", { d: `M${x + 6} ${y + CELL - 6}h${width - 12}` }),
      mark === "conflict" && !result && s("path", { d: `M${x + width - 12} ${y + 1}h5a6 6 0 0 1 6 6v5z` }));
  };
  const draw = (drawing) => {
    const names = drawing.rows.map((row) => clip(row.name, 28));
    const shapes = drawing.rows.map((row) => clip(row.shape, 40));
    const left = Math.max(...names.map((name) => name.length), 0) * 9.8 + 20;
    const widths = drawing.columns.map((column, at) => {
      const sizes = drawing.rows.map((row) => (row.cells[at]?.text ?? "").length * 9.8 + 22);
      return Math.ceil(Math.max(48, column.length * 8 + 8, ...sizes));
    });
    const starts = widths.map((_, at) => left + widths.slice(0, at).reduce((sum, width) => sum + width + GAP, 0));
    const right = left + widths.reduce((sum, width) => sum + width + GAP, 0);
    const width = Math.ceil(right + 12 + Math.max(...shapes.map((shape) => shape.length), 0) * 8);
    const top = 26;
    const ordered = [...drawing.rows.filter((row) => !row.result), ...drawing.rows.filter((row) => row.result)];
    const operands = drawing.rows.filter((row) => !row.result).length;
    const y = (at) => top + at * (CELL + GAP) + (at >= operands ? 10 : 0);
    const height = y(ordered.length - 1) + CELL + 6;
    const bad = drawing.columns.map((_, at) => drawing.rows.some((row) => !row.result && row.cells[at]?.mark === "conflict"));
    const title = drawing.rows.map((row) => (row.shape ? `${row.name} ${row.shape}` : row.name)).join(", ");
    return s("svg", { class: "drawing", role: "img", "aria-labelledby": "drawing-title", width, height, viewBox: `0 0 ${width} ${height}` },
      s("title", { id: "drawing-title" }, `How the shapes line up: ${title}. The list below says the same in words.`),
      starts.map((x, at) => bad[at] && s("rect", { class: "band", x: x - 4, y: 0, width: widths[at] + 8, height, rx: 9 })).filter(Boolean),
      starts.map((x, at) => s("text", { class: "label column", x: x + widths[at] / 2, y: 13 }, drawing.columns[at])),
      operands < ordered.length && s("path", { class: "rule", d: `M0 ${y(operands) - 9}H${right - GAP}` }),
      ordered.map((row, at) => [
        s("text", { class: "name", x: 0, y: y(at) + CELL / 2 + 1 }, clip(row.name, 28)),
        row.cells.map((one, column) => cell(one, row.result, starts[column], y(at), widths[column])).filter(Boolean),
        row.shape && s("text", { class: "label", x: right + 4, y: y(at) + CELL / 2 + 1 }, clip(row.shape, 40)),
      ]).flat(2).filter(Boolean));
  };
  const legend = (drawing) => {
    const marks = new Set(drawing.rows.flatMap((row) => row.cells.map((one) => one.mark)));
    const shown = Object.keys(MARKS).filter((mark) => marks.has(mark));
    return shown.length > 0 && h("ul", { class: "legend plain", "aria-label": "Legend" }, shown.map((mark) => h("li", {},
      s("svg", { class: "drawing", width: 22, height: 16, "aria-hidden": "true" },
        s("g", { class: mark }, s("rect", { x: 1, y: 1, width: 20, height: 14, rx: 4 }),
          mark === "reduced" && s("path", { d: "M5 11.500h12" }), mark === "conflict" && s("path", { d: "M14 2h3a4 4 0 0 1 4 4v3z" }))),
      MARKS[mark])));
  };
  const rules = (drawing) => h("ul", { class: "rules plain", "aria-label": "The rules, in the order in which PyTorch applies them" },
    drawing.rules.map((rule) => h("li", { class: rule.holds ? "holds" : "fails" }, sign(rule.holds ? "good" : "bad"),
      h("span", {}, h("span", { class: "hidden" }, rule.holds ? "holds: " : "fails: "), rule.text))));
  const drawn = (drawing) => [
    h("div", { class: "head" }, h("h2", {}, "How the shapes line up")),
    drawing.columns.length > 0 && h("div", { class: "card", style: "padding:0" },
      h("div", { class: "wide" }, draw(drawing)), legend(drawing)),
    drawing.columns.length === 0 && drawing.rules.length === 0
      ? h("p", {}, "No shape has a dimension, so there is nothing to line up.")
      : rules(drawing),
  ];

  // Messages of other releases. `#` in a pattern stands for what differs from call to call.
  const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const fits = (pattern, text) => text.match(new RegExp(`^${pattern.split(/([#*])/).map((part) => ({ "#": "(.+?)", "*": ".*?" })[part] ?? quoted(part)).join("")}$`, "s"));
  const elsewhere = (message) => FACTS.changes.flatMap(({ releases, call, here, there }) => {
    const found = fits(here, message);
    if (!found) return [];
    // Numbers are filled in only if both texts have equally many.
    const holes = there.split("#").length === found.length;
    let at = 0;
    return [{ releases, call, text: there.replace(/[#*]/g, (hole) => (hole === "#" && holes ? found[++at] : "…")) }];
  }).filter((one, at, all) => {
    // The same text in several functions is shown once, with all of them.
    const first = all.find((other) => other.text === one.text && other.releases === one.releases);
    if (first !== one && !first.call.split(", ").includes(one.call)) first.call += `, ${one.call}`;
    return first === one;
  });
  const range = (text) => text
    .replace(/>=\s*([\d.]+),\s*<\s*([\d.]+)/g, "from $1 to before $2").replace(/>=\s*([\d.]+)/g, "from $1 on")
    .replace(/<\s*([\d.]+)/g, "before $1");
  const words = (message) => {
    const others = elsewhere(message);
    return [
      h("div", { class: "head" }, h("h2", {}, "What PyTorch says"), h("p", { class: "faint" }, `libtorch ${FACTS.release}, exactly`)),
      h("div", { class: "card" },
        h("div", { class: "row" }, h("pre", { class: "message" }, message), copier(message, "the message")),
        others.map((other) => h("div", { class: "elsewhere" },
          h("p", {}, `Releases ${range(other.releases)}, in ${other.call}:`), h("pre", {}, other.text)))),
    ];
  };

  const fixes = (answer) => answer.fixes.length > 0 && [
    h("div", { class: "head" }, h("h2", {}, answer.verdict === "rejected" ? "What works" : "If another result is meant"),
      h("p", { class: "faint" }, "each was tried")),
    h("ol", { class: "fixes plain card" }, answer.fixes.map((fix) => h("li", {},
      h("div", { class: "row" },
        h("div", {}, h("pre", {}, fix.code),
          h("p", {}, fix.result && [h("span", { class: "hidden" }, "gives "), h("span", { class: "shape" }, `→ ${fix.result}`), "  "], h("span", { class: "faint" }, fix.why))),
        copier(fix.code, fix.code))))),
  ];
  const notes = (head, texts, kind) => texts.length > 0 && [
    h("div", { class: "head" }, h("h2", {}, head)),
    h("ul", { class: `plain ${kind}` }, texts.map((text) => h("li", {}, text))),
  ];
  const meaning = (reported) => [
    h("div", { class: "head" }, h("h2", {}, "What the message means")),
    h("div", { class: "card" },
      h("pre", { class: "message" }, reported.exception ? `${reported.exception}: ${reported.message}` : reported.message),
      reported.line && h("p", { class: "faint" }, "raised by ", h("code", {}, reported.line)),
      h("p", {}, `${reported.says}.`)),
    notes("What to look at", reported.look, ""),
  ];

  // The verdict: its kind, its word, and the sentence after it.
  const verdict = (answer) => {
    const call = answer.verdict !== "rejected" && !answer.source.includes("\n") ? answer.source : answer.call;
    const { result } = answer;
    const dtype = result && result.dtype && result.dtype !== "float32" ? ` of ${result.dtype}` : "";
    const gives = result ? `gives shape ${result.shape}${dtype}${answer.memory ? `, ${answer.memory}` : ""}` : "";
    const conditions = answer.conditions.map((condition, at) => `${at ? "or if" : "if"} ${condition}`).join(", ");
    switch (answer.verdict) {
      case "accepted": return ["good", "Accepted", call, gives];
      case "rejected": return ["bad", "Rejected", call, answer.reason ?? ""];
      case "conditional": return ["look", "Depends on the sizes", call, [conditions, gives].filter(Boolean).join(": ")];
      case "unknown": return ["look", "Depends on the elements", call, answer.message ?? ""];
      default: return ["look", "An error message", "", answer.reason ?? ""];
    }
  };
  const show = (kind, word, call, says) => {
    const box = $("verdict");
    box.className = kind;
    box.replaceChildren(sign(kind), h("span", {}, h("strong", {}, word), call && [" ", h("code", { class: "call" }, call)],
      h("span", { class: "says" }, says)));
  };
  const detail = (...parts) => {
    $("details").replaceChildren(...parts.flat(9).filter(Boolean));
    // What is wider than its box is scrolled by keyboard, too.
    for (const box of document.querySelectorAll(".wide")) {
      if (box.scrollWidth > box.clientWidth) grow(box, { tabindex: "0", role: "group", "aria-label": "Drawing, to be scrolled sideways" }, []);
    }
  };
  const tools = (question) => {
    const link = fragment(question);
    return h("p", { class: "tools" }, link
      ? h("button", { type: "button", click: (event) => copy(location.href.split("#")[0] + link, event.currentTarget) }, "Copy a link to this question")
      : h("span", { class: "faint" }, "This question is too long for a link."));
  };

  const render = (answer, question) => {
    show(...verdict(answer));
    const message = answer.verdict === "rejected" && answer.message;
    detail(
      answer.reported && meaning(answer.reported),
      answer.drawing && drawn(answer.drawing),
      message && words(message),
      fixes(answer),
      notes("Look at this", answer.cautions, "box look"),
      notes("Warnings of PyTorch", answer.warnings, "box look"),
      notes("In the backward pass", answer.gradients, ""),
      tools(question),
    );
  };
  // The command line is told of as the fields of this page.
  const here = (text) => text.replace(/--arg (\w+=)/g, "$1").replace(/--op ?/g, "operation ").replace(/--out\b/g, "out=")
    .replace("`broadcheck ops` lists them", "the field has a list of them");
  const unread = (error) => {
    show("look", "This question cannot be read", "", "");
    const text = here(error);
    detail(text.includes("\n") ? h("pre", { class: "card error", style: "margin-top:1rem;white-space:pre;overflow-x:auto", tabindex: "0" }, text) : h("p", { class: "card error" }, text));
  };
  const trapped = (error, question) => {
    show("bad", "This question cannot be answered here", "", "That is a fault of broadcheck, not of your shapes. Other questions work as before.");
    const report = `broadcheck ${FACTS.version}, explain in the browser: ${error.message}\n\n${JSON.stringify(question, null, 2)}`;
    const address = FACTS.repository && `${FACTS.repository}/issues/new?${new URLSearchParams({ title: "explain fails in the browser", body: report })}`;
    detail(h("pre", { class: "card error", style: "margin-top:1rem" }, report),
      h("p", { class: "tools" }, address && h("a", { href: address, rel: "noreferrer" }, "Report it"), copier(report, "of the fault", "Copy a report")));
  };

  // One question at a time, the newest next.
  let busy = false;
  let again = false;
  const answer = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    const question = asked();
    try {
      history.replaceState(null, "", fragment(question) || location.href.split("#")[0]);
    } catch {
      // A browser may limit how often an address changes; the next change brings it up to date.
    }
    try {
      if (question.q.trim() === "") {
        $("verdict").replaceChildren();
        $("verdict").className = "";
        detail();
      } else {
        const reply = await engine.ask(request(question));
        if (reply.answer) render(reply.answer, question);
        else unread(reply.error);
      }
    } catch (error) {
      trapped(error, question);
    }
    $("answer").dataset.of = JSON.stringify(question);
    busy = false;
    if (again) {
      again = false;
      await answer();
    }
  };

  let clock;
  const soon = () => {
    clearTimeout(clock);
    clock = setTimeout(answer, 180);
  };

  const begin = async () => {
    document.body.append(h("p", { id: "said", class: "hidden", role: "status" }));
    $("without").hidden = true;
    $("form").hidden = false;
    $("form").addEventListener("submit", (event) => event.preventDefault());
    $("form").addEventListener("input", soon);
    $("dtypes").append(...DTYPES.map((name) => h("option", { value: name })));
    document.querySelector(".examples").hidden = false;
    $("examples").append(...EXAMPLES.map(([label, fields]) => h("li", {}, h("button", {
      type: "button",
      click: () => {
        for (const name of FIELDS) $(name).value = fields[name] ?? "";
        answer();
      },
    }, label))));
    addEventListener("hashchange", () => restore() && answer());
    const linked = restore();
    try {
      await engine.load();
      const { operations } = await engine.ask("operations");
      $("operations").append(...operations.map((name) => h("option", { value: name })));
    } catch (error) {
      return trapped(error, asked());
    }
    if (!linked && $("q").value === "") for (const [name, value] of Object.entries(EXAMPLES[0][1])) $(name).value = value;
    await answer();
  };
  begin();
})();
