"""Mock interviews."""

import streamlit as st

st.title("Mock interviews", anchor=False)
