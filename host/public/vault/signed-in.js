// The vault's sign-in returns here, in a hidden frame of the vault or in a window without an opener.
// The identity provider's answer is given to the vault, or to a page of the portal that asks for it,
// and to no other site: that page brings it to the vault, without whose verifier the code is worth
// nothing.
const { portal_origins: portalOrigins } = JSON.parse(document.getElementById("portal-page").textContent);
const message = { relicario: "signed-in", answer: location.search.slice(1) };
history.replaceState(null, "", location.pathname); // the code does not stay in the address
if (parent === window)
  addEventListener("message", ({ data, origin, source }) => {
    if (data?.relicario !== "sign-in" || !portalOrigins.includes(origin)) return;
    source.postMessage(message, origin);
    close(); // a page of another origin that is not the opener may not
  });
else parent.postMessage(message, location.origin);
