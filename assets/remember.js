// Writes one cookie for a year, so that the server sees a visitor's wishes before the first page is drawn.
export default function ({ data }) {
  const name = encodeURIComponent(data.name);
  document.cookie = `${name}=${encodeURIComponent(data.value)}; max-age=31536000; path=/; SameSite=Lax`;
}
