import help from "../locales/en/help.json";
import joyride from "../locales/en/joyride.json";

/** What no page begins with. */
export const texts = { help, joyride };
