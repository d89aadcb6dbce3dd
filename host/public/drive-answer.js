// A cloud drive's sign-in returns here, in a window that the portal opened. The response goes to
// the waiting page over a channel named by the state that this page chose: the provider's opener
// policy may have cut the two windows apart. The page then says where this window goes next, or
// closes it.
const answer = new URLSearchParams(location.search);
for (const [name, value] of new URLSearchParams(location.hash.slice(1))) answer.append(name, value);
history.replaceState(null, "", location.pathname); // neither code nor token stays in the address
const channel = new BroadcastChannel(`drive-answer:${answer.get("state")}`);
channel.addEventListener("message", ({ data: { next, address, fields } }) => {
  if (next === "close") close();
  else if (next === "go") location.replace(address);
  else if (next === "post") {
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: address });
    for (const [name, value] of Object.entries(fields))
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    document.body.append(form);
    form.submit();
  }
});
channel.postMessage({ answer: answer.toString() });
