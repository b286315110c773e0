// A page that was opened as a file may not start a Worker, and the search is one. Here it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html>";
      frame.addEventListener("load", () => this.start(frame.contentWindow, new URL(url, location.href)), { once: true });
      document.body.append(frame);
    }

    start(inside, url) {
      const send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => {
        this.ready = send;
        this.waiting.forEach(send);
      };
      script.onerror = () => this.dispatchEvent(new ErrorEvent("error", { message: `cannot load ${url}` }));
      inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.ready) this.ready(data);
      else this.waiting.push(data);
    }

    terminate() {}
  };
}
