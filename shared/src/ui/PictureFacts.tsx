import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { s, space } from "./tokens.ts";

/**
 * States what a picture protects against, and what it does not. Tours and slides use the same
 * texts.
 */
export function PictureFacts() {
  const { t } = useTranslation("common");
  return (
    <Facts>
      <li>{t("picture.detail_body")}</li>
      <li>{t("picture.online_body")}</li>
      <li>{t("picture.passphrase_body")}</li>
    </Facts>
  );
}

const Facts = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  padding-left: ${space(5)};
  list-style: disc;
  max-width: ${s("lineLength")};
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;
