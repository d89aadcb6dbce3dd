import { Card, media, PictureFacts, s, SmallText, space, SectionTitle, Stack } from "@relicario/shared/ui";
import { Image, LockKeyhole, Undo2 } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

const steps = [
  { name: "seal", Icon: LockKeyhole },
  { name: "picture", Icon: Image },
  { name: "back", Icon: Undo2 },
] as const;

export function HowItWorks() {
  const { t } = useTranslation("beta-home");
  return (
    <Stack $gap={3}>
      <SectionTitle>{t("how.title")}</SectionTitle>
      <Steps>
        {steps.map(({ name, Icon }) => (
          <Card as="li" key={name}>
            <Icon aria-hidden />
            <h3>{t(`how.${name}_title`)}</h3>
            <SmallText>{t(`how.${name}_body`)}</SmallText>
          </Card>
        ))}
      </Steps>
      <PictureFacts />
    </Stack>
  );
}

const Steps = styled.ol`
  display: grid;
  grid-template-columns: repeat(3, 1fr);
  gap: ${space(4)};
  & > li {
    display: flex;
    flex-direction: column;
    gap: ${space(2)};
  }
  & > li > svg {
    color: ${s("accentText")};
  }
  & h3 {
    font-size: ${s("textBase")};
  }
  ${media.mobile} {
    grid-template-columns: 1fr;
  }
`;
