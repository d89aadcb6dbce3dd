import { guardScripts } from "./deployment/integrity.ts"; // before the first script is loaded
import "@fontsource-variable/inter/wght.css";
import "react-toastify/ReactToastify.css";
import "./plain.css";

// Styles that are made at run time carry the page's nonce; webpack gives this to whoever asks.
__webpack_nonce__ = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

guardScripts(window, __INTEGRITY_FUNCTION__, document.getElementById("host-files")?.textContent ?? "");

void import(/* webpackChunkName: "bootstrap" */ "./bootstrap.tsx");
