// The page at /docs: Swagger UI on this service's own document, with the token where the service needs one.
const form = document.querySelector("#token");
let token = "";

function withToken(request) {
  if (token && new URL(request.url, location.href).origin === location.origin) {
    request.headers = { ...request.headers, Authorization: `Bearer ${token}` };
  }
  return request;
}

async function show() {
  const answer = await fetch("openapi.json", withToken({ url: location.href, headers: {} }));
  if (answer.status === 401) {
    form.querySelector("span").textContent = token ? "The service does not know this token." : "";
    form.hidden = false;
    return;
  }
  form.hidden = true;
  const spec = await answer.json();
  spec.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }]; // also below a path of a proxy
  SwaggerUIBundle({
    spec,
    dom_id: "#page",
    deepLinking: true,
    validatorUrl: null,
    requestInterceptor: withToken,
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  token = form.querySelector("input").value;
  show();
});
show();
