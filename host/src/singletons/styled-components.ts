/** What the host gives to everybody who imports `styled-components`: less what servers and React Native need. The build puts this in place of the package. */
export { createGlobalStyle, css, default, keyframes } from "styled-components-whole";
