(() => {
  // What a link leads to is opened, and all that it is inside of.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  const form = document.getElementById("filter");
  const told = form.querySelector("output");
  const rows = [...document.querySelectorAll(".grid tbody")].map((body) => [body, [...body.querySelectorAll("tr[data-w]")]]);
  const cases = new Map();
  for (const section of document.querySelectorAll("#cases > .s")) {
    const own = [...section.querySelectorAll(".c")].map((one) => [one, one.textContent.toLowerCase()]);
    cases.set(section.querySelector("div").id, [section, own, section.textContent.toLowerCase()]);
  }
  const is = (show, word, tags) => {
    if (!show) return true;
    return show === "x" ? word !== "true" : tags.split(" ").includes(show);
  };
  const filter = () => {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const show = form.show.value;
    const has = (text) => words.every((word) => text.includes(word));
    let statements = 0, shown = 0;
    const visible = new Set();
    for (const [id, [section, own]] of cases) {
      let some = false;
      const named = has(section.firstElementChild.textContent.toLowerCase() + " " + id);
      for (const [one, text] of own) {
        const on = is(show, section.dataset.w, one.dataset.t) && (named || has(text));
        one.classList.toggle("off", !on);
        some ||= on;
        shown += on;
      }
      section.classList.toggle("off", !some);
      if (some) visible.add(id);
    }
    for (const [body, list] of rows) {
      let some = false;
      for (const row of list) {
        const id = row.querySelector("a").hash.slice(1);
        const own = cases.get(id)[1];
        const on = own.length ? visible.has(id) : is(show, row.dataset.w, row.dataset.t) && has(cases.get(id)[2]);
        row.classList.toggle("off", !on);
        some ||= on;
        statements += on;
      }
      body.classList.toggle("off", !some);
    }
    told.textContent = `${statements} statements, ${shown} cases`;
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
})();
