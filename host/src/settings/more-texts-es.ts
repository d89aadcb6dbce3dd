import help from "../locales/es/help.json";
import joyride from "../locales/es/joyride.json";

/** What no page begins with. */
export const texts = { help, joyride };
