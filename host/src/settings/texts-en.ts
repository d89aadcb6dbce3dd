import betaSidebar from "../locales/en/beta-sidebar.json";
import common from "../locales/en/common.json";
import errors from "../locales/en/errors.json";
import header from "../locales/en/header.json";
import language from "../locales/en/language.json";
import modals from "../locales/en/modals.json";

export const texts = { "beta-sidebar": betaSidebar, common, errors, header, language, modals };
