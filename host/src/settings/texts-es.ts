import betaSidebar from "../locales/es/beta-sidebar.json";
import common from "../locales/es/common.json";
import errors from "../locales/es/errors.json";
import header from "../locales/es/header.json";
import language from "../locales/es/language.json";
import modals from "../locales/es/modals.json";

export const texts = { "beta-sidebar": betaSidebar, common, errors, header, language, modals };
