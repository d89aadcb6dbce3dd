import { guardScripts } from "./deployment/integrity.ts"; // before the first script loads
import "@fontsource-variable/inter/wght.css";
import "react-toastify/ReactToastify.css";
import "./plain.css";

// Styles created at run time carry the page's nonce; libraries read it from webpack.
__webpack_nonce__ = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

guardScripts(window, __INTEGRITY_FUNCTION__, document.getElementById("host-files")?.textContent ?? "");

void import(/* webpackChunkName: "bootstrap" */ "./bootstrap.tsx");
