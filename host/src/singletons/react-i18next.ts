/**
 * What the host gives to everybody who imports `react-i18next`: texts are read by `useTranslation` and nothing else here, so
 * the components that put markup into texts are left out. The build puts this in place of the package.
 */
export { I18nextProvider, initReactI18next, useTranslation } from "react-i18next-whole";
