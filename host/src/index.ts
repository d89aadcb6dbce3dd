import "@fontsource-variable/inter/wght.css";
import "react-toastify/ReactToastify.css";
import "./plain.css";

// Styles that are made at run time carry the page's nonce; webpack gives this to whoever asks.
__webpack_nonce__ = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

void import("./bootstrap.tsx");
