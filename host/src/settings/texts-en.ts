import betaSidebar from "../locales/en/beta-sidebar.json";
import common from "../locales/en/common.json";
import errors from "../locales/en/errors.json";
import header from "../locales/en/header.json";
import help from "../locales/en/help.json";
import joyride from "../locales/en/joyride.json";
import language from "../locales/en/language.json";
import modals from "../locales/en/modals.json";

export const texts = { "beta-sidebar": betaSidebar, common, errors, header, help, joyride, language, modals };
