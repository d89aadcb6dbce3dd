import recoverEn from "../locales/en/beta-recover.json";
import imageRecoveryEn from "../locales/en/image-recovery.json";
import openersEn from "../locales/en/openers.json";
import provideImageEn from "../locales/en/provide-image.json";
import recoverEs from "../locales/es/beta-recover.json";
import imageRecoveryEs from "../locales/es/image-recovery.json";
import openersEs from "../locales/es/openers.json";
import provideImageEs from "../locales/es/provide-image.json";

/** Texts of the elements, bundled with their code. */
export const elementTexts = {
  en: {
    "beta-recover": recoverEn,
    "image-recovery": imageRecoveryEn,
    openers: openersEn,
    "provide-image": provideImageEn,
  },
  es: {
    "beta-recover": recoverEs,
    "image-recovery": imageRecoveryEs,
    openers: openersEs,
    "provide-image": provideImageEs,
  },
};
