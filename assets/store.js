// The browser's side of views/_ui/store.py: keeps one text in IndexedDB, or in localStorage where that is refused.
//
// Streamlit calls the default export with one of two messages: a question (answered with the text if the session
// lacks it) or commands (each obeyed once, in order). Answers are the events `text` and `status`. The module outlives
// pages and sessions: there is one Shelf per text and tab. What is stored leaves the browser only as an answer.

const NAME = "ridgepoint";
const TABLE = "texts";
const OPEN_MS = 5000; // some browsers neither open a database nor refuse it
const SETTLE_MS = 300; // after another tab's last write, before its text is fetched

const shelves = new Map(); // key -> Shelf

export default function ({ data: [message], setTriggerValue }) {
  const { key } = message;
  if (!shelves.has(key)) shelves.set(key, new Shelf(key));
  const shelf = shelves.get(key);
  if (message.commands) {
    shelf.obey(message);
    return;
  }
  const tell = (event, value) => setTriggerValue(event, value);
  shelf.listen(message, tell);
  return () => shelf.leave(tell);
}

class Shelf {
  #key;
  #names;
  #backend = null; // promise of where texts are kept
  #queue = Promise.resolve(); // one thing after the other
  #tell = null; // how the session is told, while a page listens
  #session = null;
  #asked = null;
  #waiting = null; // commands of a session that has not asked yet
  #untold = null; // an event that nobody listened to
  #done = 0; // the last command obeyed for this session
  #last = null; // what the session was told after it
  #known = null; // the revision that the session was told last, or has written
  #channel = null;
  #timer = 0;

  constructor(key) {
    this.#key = key;
    this.#names = { current: key, backup: `${key}/backup` };
    const news = (rev) => {
      if (rev !== this.#known) this.#lookSoon();
    };
    if (window.BroadcastChannel) {
      this.#channel = new BroadcastChannel(`${NAME}/${key}`);
      this.#channel.onmessage = ({ data }) => news(data.rev);
    }
    window.addEventListener("storage", ({ key: name }) => name === `${NAME}/${key}` && news(undefined));
    document.addEventListener("visibilitychange", () => this.#lookSoon()); // a frozen tab hears nothing
  }

  // A session asks. Told before and nothing else stored since: no answer.
  listen({ session, asked, have, ready }, tell) {
    const again = this.#tell && this.#session === session && this.#asked === asked;
    this.#tell = tell;
    if (this.#session !== session) [this.#done, this.#last, this.#untold] = [0, null, null];
    [this.#session, this.#asked] = [session, asked];
    if (this.#untold) this.#say(...this.#untold);
    if (!again) this.#then(() => this.#answer(ready ? have : undefined));
    if (this.#waiting?.session === session) this.obey(this.#waiting);
  }

  leave(tell) {
    if (this.#tell === tell) this.#tell = null;
  }

  obey(message) {
    if (message.session !== this.#session) {
      this.#waiting = message;
      return;
    }
    this.#waiting = null;
    this.#then(() => this.#obey(message));
  }

  async #obey({ session, commands }) {
    if (session !== this.#session) return;
    const fresh = commands.filter(({ id }) => id > this.#done);
    if (!fresh.length) {
      if (this.#last) this.#say(...this.#last); // the confirmation may have been lost on its way
      return;
    }
    const report = { done: fresh.at(-1).id, stopped: null, error: "" };
    let handOver = false;
    for (const command of fresh) {
      try {
        const outcome = await this.#carryOut(command);
        handOver ||= outcome === "conflict" || outcome === "restored";
        if (outcome === "conflict") report.stopped = command.id;
        if (outcome === "no backup") report.error = outcome;
      } catch (fault) {
        Object.assign(report, { error: codeOf(fault), stopped: command.id });
      }
      if (report.stopped) break; // what follows is based on it
    }
    this.#done = report.done;
    const state = await this.#look(report);
    this.#last = handOver ? ["text", state] : ["status", without(state, "text", "aside")];
    this.#known = state.rev;
    this.#say(...this.#last);
    this.#channel?.postMessage({ rev: state.rev });
  }

  // One command, in one transaction: all of it happens or nothing.
  async #carryOut({ op, rev, bases, text, ...also }) {
    const { current, backup } = this.#names;
    const place = await this.#place();
    const outcome = await place.update([current, backup], (found, put) => {
      const stored = entry(found[current]);
      if (op === "restore") {
        const kept = entry(found[backup]);
        if (!kept) return "no backup";
        if (stored) put(backup, found[current]);
        put(current, record(rev, kept.text));
        return "restored";
      }
      if (stored?.rev === rev) return "";
      if (stored && !bases.includes(stored.rev)) return "conflict";
      if (stored && also.keep) put(`${current}/unreadable/${stored.rev}`, found[current]);
      if (stored && also.backup) put(backup, found[current]);
      put(current, record(rev, text));
      return "";
    });
    if (also.dropAside && !outcome) place.dropAside(current);
    return outcome;
  }

  // Hand over what is stored, unless the session has that revision. `have` undefined: it has not been told anything.
  // An answer confirms no command: what became of one is said once, and that may have been lost.
  async #answer(have) {
    const state = await this.#look();
    this.#known = state.rev;
    if (!have?.includes(state.rev)) this.#say("text", state);
  }

  // What is stored, with its health.
  async #look(report = { done: 0, stopped: null, error: "" }) {
    const { error } = report;
    const state = { session: this.#session, ...report, backend: "", rev: null, text: null };
    try {
      const { current, backup } = this.#names;
      const place = await this.#place();
      const found = await place.read([current, backup]);
      const [stored, kept] = [entry(found[current]), entry(found[backup])];
      const also = { backend: place.backend, aside: place.aside(current), backupAt: kept?.savedAt };
      return { ...state, ...also, ...stored, error: error || (place.backend === "none" ? "refused" : "") };
    } catch (fault) {
      return { ...state, error: error || codeOf(fault) };
    }
  }

  #lookSoon() {
    clearTimeout(this.#timer);
    if (document.hidden) return; // it looks when it is seen again
    this.#timer = setTimeout(() => this.#tell && this.#then(() => this.#answer([this.#known])), SETTLE_MS);
  }

  #say(event, value) {
    if (value.session !== this.#session) return;
    this.#untold = this.#tell ? null : [event, value];
    this.#tell?.(event, value);
  }

  #then(work) {
    this.#queue = this.#queue.then(work).catch((fault) => console.warn("store:", fault));
  }

  #place() {
    this.#backend ??= openPlace(() => (this.#backend = null));
    return this.#backend;
  }
}

function record(rev, text) {
  return { rev, text, savedAt: Date.now(), bytes: new Blob([text]).size };
}

// A stored value as { rev, text, savedAt, bytes }. One that we did not write like that is handed over as it is.
function entry(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value.rev === "string" && typeof value.text === "string") return value;
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return { rev: `damaged-${hash}`, text, savedAt: null, bytes: new Blob([text]).size, damaged: true };
}

function codeOf(fault) {
  if (fault?.message === "refused") return "refused";
  return fault?.name === "QuotaExceededError" ? "quota" : "failed";
}

function without(object, ...names) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

// Places: read(names), update(names, change) with change(found, put) inside one transaction, and the text that lies
// aside: one that was written to localStorage while the database did not answer.

async function openPlace(lost) {
  try {
    return new Database(await openDatabase(), lost);
  } catch (fault) {
    console.warn("store: no IndexedDB,", fault);
  }
  const local = localPlace();
  return local ? new Local(local) : new Nowhere();
}

function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    setTimeout(() => reject(new Error("no answer")), OPEN_MS);
  });
}

function localPlace() {
  try {
    const probe = `${NAME}/probe`;
    localStorage.setItem(probe, probe);
    localStorage.removeItem(probe);
    return localStorage;
  } catch {
    return null;
  }
}

class Database {
  backend = "indexeddb";
  #database;
  #local = localPlace();

  constructor(database, lost) {
    this.#database = database;
    database.onclose = lost; // the reader has cleared the site's data: open it again
    database.onversionchange = () => {
      database.close();
      lost();
    };
  }

  read(names) {
    return this.#run("readonly", names, (found) => found);
  }

  update(names, change) {
    return this.#run("readwrite", names, change);
  }

  #run(mode, names, work) {
    return new Promise((resolve, reject) => {
      // strict: confirmed means on the disk
      const transaction = this.#database.transaction(TABLE, mode, { durability: "strict" });
      const table = transaction.objectStore(TABLE);
      const found = {};
      let outcome;
      let fault = null;
      transaction.oncomplete = () => resolve(outcome);
      transaction.onabort = () => reject(fault ?? transaction.error);
      names.forEach((name, k) => {
        table.get(name).onsuccess = ({ target }) => {
          found[name] = target.result;
          if (k < names.length - 1) return; // requests are answered in order
          try {
            outcome = work(found, (where, value) => table.put(value, where));
          } catch (error) {
            fault = error;
            transaction.abort();
          }
        };
      });
    });
  }

  aside(name) {
    return entry(parsed(this.#local?.getItem(`${NAME}/${name}`)))?.text;
  }

  dropAside(name) {
    this.#local?.removeItem(`${NAME}/${name}`);
  }
}

// One item is replaced as a whole or not at all, so the copies go first and the text itself last.
class Local {
  backend = "localstorage";
  #local;

  constructor(local) {
    this.#local = local;
  }

  read(names) {
    return Object.fromEntries(names.map((name) => [name, parsed(this.#local.getItem(`${NAME}/${name}`))]));
  }

  update(names, change) {
    return change(this.read(names), (where, value) => this.#local.setItem(`${NAME}/${where}`, JSON.stringify(value)));
  }

  aside() {}
  dropAside() {}
}

class Nowhere {
  backend = "none";

  read() {
    return {};
  }

  update() {
    throw new Error("refused");
  }

  aside() {}
  dropAside() {}
}

function parsed(item) {
  if (item === null || item === undefined) return undefined;
  try {
    return JSON.parse(item);
  } catch {
    return item;
  }
}
